// Package friend is the session of a Friend pendant: its live sound. The pendant has no battery
// level, storage, buttons or clock.
package friend

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/friend"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is Friend's entry in the list of families.
var Family = carry.Family{
	Name: "friend", Short: "Carry a Friend pendant over Bluetooth",
	Long: `Connects to a Friend pendant over Bluetooth (BlueZ), decodes its sound, which is LC3,
and publishes it to the broker as the wearable --name.`,
	Carrier: carry.Bluetooth, Service: frame.Service, Begin: begin, Simulate: simulate,
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "lc3", Rate: lc3.Rate, Frame: lc3.Lasts, Bytes: frame.FrameSize},
}

// session is one connection to the pendant. One goroutine runs it.
type session struct {
	*carry.Conn
	muted bool // as the node was last told
	sound carry.LC3
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, muted: c.Client.Paused()}
	if err := c.Dev.Subscribe(ctx, frame.SoundChar); err != nil {
		return nil, err
	}
	s.Note("connected", "Friend, LC3 at %d Hz, MTU %d", lc3.Rate, c.Dev.MTU())
	mic := !s.muted
	if err := s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: "Friend", Firmware: "unknown", Codecs: []string{"pcm16"}, Mic: &mic}); err != nil {
		return nil, err
	}
	return s, s.Recording(ctx, mic, "")
}

// Handle implements [carry.Session]. While the wearer pauses, sound is thrown away, because the
// pendant can't be told to stop.
func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.EndSilent(ctx, &s.sound); err != nil || s.muted {
		return err
	}
	frames, err := frame.Parse(n.Data)
	if err != nil {
		s.NoteDamaged(err.Error())
	}
	return s.sound.Hear(ctx, s.Conn, frames)
}

func (s *session) Tick(ctx context.Context, _ time.Time) error { return s.EndSilent(ctx, &s.sound) }

// Command does what the node asks for.
func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	if cmd.Cmd != wire.CmdPause && cmd.Cmd != wire.CmdResume || s.Client.Paused() == s.muted {
		return nil // the node repeats its order after each hello
	}
	s.Note("pause", "the node says %s", cmd.Cmd)
	s.muted = !s.muted
	if err := s.sound.EndRecording(ctx, s.Conn); err != nil {
		return err
	}
	return s.Recording(ctx, !s.muted, "the wearer's wish")
}

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.sound.EndRecording(ctx, s.Conn), s.TellLosses(ctx, true), s.Status(ctx, "offline", "the wearable is not connected"))
}
