// Package g1 is the session of Even Realities' G1 glasses. It carries sound and touches to the
// node, and a short answer to the display.
package g1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/g1"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the glasses' entry in the list of families.
var Family = carry.Family{
	Name: "g1", Short: "Carry Even Realities' G1 glasses over Bluetooth",
	Long: `Connects to both arms of the glasses over Bluetooth (BlueZ), and publishes what the
microphone of the right one hears, and the wearer's touches, to the broker as the wearable
--name. An answer of the node is shown on the display. The glasses send LC3, which is decoded
here.`,
	Carrier: carry.Bluetooth, Pair: true, Service: frame.Service, ShowsAnswers: true, Begin: begin, Simulate: func(p carry.Play) link.Dialer { return NewGlasses(p) },
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "lc3", Rate: lc3.Rate, Frame: lc3.Lasts, Bytes: frame.FrameSize},
}

// Times from EvenDemoApp, in units of FirstWait, a second.
const (
	heartEvery  = 8
	heartTries  = 2
	heartWithin = 3 // timeout of an answer
	micAgain    = 5 // silence after which the microphone is turned on again, because the glasses end a recording after 30 s
)

type session struct {
	*carry.Conn
	sound carry.LC3
	seqs  frame.Seqs
	muted bool

	beats  byte
	beat   time.Time // when the last heartbeat was written; zero: none yet
	missed int       // heartbeats in a row without an answer
	mic    time.Time // when the microphone was last turned on
	heard  time.Time // when sound last came
	seq    byte      // sequence number of texts
	text   [][]byte  // writes for the right arm, which wait until the left one has answered
	hidden []string  // pages of the answer that were not shown yet
	pages  int
	turn   time.Time // when the next page is due
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	now := time.Now()
	s := &session{Conn: c, heard: now}
	s.muted = c.Client.Paused()
	for _, arm := range []string{link.Left, link.Right} {
		if err := c.Dev.Subscribe(ctx, arm+frame.NotifyChar); err != nil {
			return nil, err
		}
	}
	s.Note("connected", "Even G1, MTU %d", c.Dev.MTU())
	mic := !s.muted
	if err := s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: now}, Model: "Even G1", Firmware: "unknown", Codecs: []string{"pcm16"}, Mic: &mic}); err != nil {
		return nil, err
	}
	if err := s.both(ctx, frame.Hello()); err != nil {
		return nil, err
	}
	return s, s.listen(ctx)
}

func (s *session) both(ctx context.Context, b []byte) error {
	if err := s.Dev.Write(ctx, link.Left+frame.WriteChar, b); err != nil {
		return err
	}
	return s.Dev.Write(ctx, link.Right+frame.WriteChar, b)
}

// listen turns the microphone on, or off while the wearer pauses.
func (s *session) listen(ctx context.Context) error {
	s.mic = time.Now()
	if err := s.Dev.Write(ctx, link.Right+frame.WriteChar, frame.Mic(!s.muted)); err != nil {
		return err
	}
	return s.Recording(ctx, !s.muted, "")
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.onIdle(ctx); err != nil {
		return err
	}
	left := strings.HasPrefix(n.Char, link.Left)
	item, err := frame.Parse(n.Data)
	if err != nil {
		s.NoteDamaged(err.Error())
		return nil
	}
	switch i := item.(type) {
	case frame.Sound:
		if left || s.muted {
			return nil
		}
		return s.packet(ctx, i)
	case frame.Touch:
		return s.touched(ctx, i, left)
	case frame.Answer:
		return s.answered(ctx, i, left)
	}
	return nil
}

func (s *session) packet(ctx context.Context, p frame.Sound) error {
	s.heard = s.Now
	missing, old := s.seqs.Next(p.Seq)
	if old {
		s.Report.Doubled++
		return nil
	}
	if missing > 0 {
		s.Report.Lost += missing
		s.Losses.Run(int(p.Seq)-missing, int(p.Seq)-1, missing, s.Now)
		if err := s.ended(ctx); err != nil { // the next packet begins another piece, with its own time
			return err
		}
		s.seqs.Next(p.Seq)
	}
	// The packet came when the last of its frames had been heard.
	return s.sound.Hear(ctx, s.Conn, slices.Collect(slices.Chunk(p.Data, frame.FrameSize)))
}

// ended ends a recording. The next one is numbered from the start.
func (s *session) ended(ctx context.Context) error {
	s.seqs = frame.Seqs{}
	return s.sound.EndRecording(ctx, s.Conn)
}

func (s *session) touched(ctx context.Context, t frame.Touch, left bool) error {
	side := "right"
	if left {
		side = "left"
	}
	var gesture string
	switch t {
	case frame.Ask: // the next words are a question
		gesture = "single"
		if !s.muted {
			if err := s.listen(ctx); err != nil {
				return err
			}
		}
	case frame.Asked:
		gesture = "release"
	case frame.SingleTap:
		gesture = "press"
	case frame.DoubleTap, frame.Triple, frame.TripleOff:
		gesture = "double"
		s.hidden = nil
	default:
		return nil
	}
	s.Report.Presses++
	s.Note("button", "%s, %s", gesture, side)
	return s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: s.Now}, Gesture: gesture, Name: side})
}

func (s *session) answered(ctx context.Context, a frame.Answer, left bool) error {
	switch {
	case a.Command == frame.Heart && a.OK:
		s.missed = 0
		if left { // now the right one gets its own
			return s.Dev.Write(ctx, link.Right+frame.WriteChar, frame.Heartbeat(a.Arg))
		}
	case a.Command == frame.Microphone && !a.OK && !s.muted:
		s.Note("warning", "the glasses did not turn the microphone on")
	case a.Command == frame.Text && left && a.OK:
		for _, b := range s.text {
			if err := s.Dev.Write(ctx, link.Right+frame.WriteChar, b); err != nil {
				return err
			}
		}
		s.text = nil
	}
	return nil
}

// onIdle ends a recording that has been silent for a while, and reports losses.
func (s *session) onIdle(ctx context.Context) error {
	if s.sound.Idle(s.Now) {
		if err := s.ended(ctx); err != nil {
			return err
		}
	}
	return s.TellLosses(ctx, false)
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	unit := max(s.FirstWait, 100*time.Millisecond)
	if now.Sub(s.beat) >= heartEvery*unit || s.missed > 0 && now.Sub(s.beat) >= heartWithin*unit {
		if s.missed++; s.missed > heartTries {
			return errors.New("g1: the glasses do not answer the heartbeat")
		}
		s.beat, s.beats = now, s.beats+1
		if err := s.Dev.Write(ctx, link.Left+frame.WriteChar, frame.Heartbeat(s.beats)); err != nil {
			return err
		}
	}
	if !s.muted && now.Sub(s.heard) >= micAgain*unit && now.Sub(s.mic) >= micAgain*unit {
		s.mic = now
		if err := s.Dev.Write(ctx, link.Right+frame.WriteChar, frame.Mic(true)); err != nil {
			return err
		}
	}
	if len(s.hidden) > 0 && now.After(s.turn) {
		if err := s.page(ctx, now); err != nil {
			return err
		}
	}
	return s.onIdle(ctx)
}

// Characters of the display: 488 points wide, in EvenDemoApp's font, five lines at once.
const columns, rows = 40, 5

// pageFor is how long a page is shown.
const pageFor = 6 * time.Second

// Command does what the node asks for.
func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause, wire.CmdResume:
		if s.Client.Paused() == s.muted {
			return nil
		}
		s.muted = !s.muted
		s.Note("pause", "the node says %s", cmd.Cmd)
		return errors.Join(s.ended(ctx), s.listen(ctx))
	case wire.CmdSay:
		s.Note("answer", "%d characters are shown", len(cmd.Text))
		lines := strings.Split(carry.Lines(cmd.Text, columns, 4*rows), "\n")
		s.hidden = nil
		for p := range slices.Chunk(lines, rows) {
			s.hidden = append(s.hidden, strings.Join(p, "\n"))
		}
		s.pages = len(s.hidden)
		return s.page(ctx, time.Now())
	}
	return nil
}

// page shows the next page, on the left arm first.
func (s *session) page(ctx context.Context, now time.Time) error {
	list, err := frame.Page(s.seq, s.hidden[0], s.pages-len(s.hidden), s.pages)
	if err != nil {
		return fmt.Errorf("show an answer: %w", err)
	}
	s.seq += byte(len(list))
	s.hidden, s.text, s.turn = s.hidden[1:], list, now.Add(pageFor)
	for _, b := range list {
		if err := s.Dev.Write(ctx, link.Left+frame.WriteChar, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.ended(ctx), s.TellLosses(ctx, true), s.Status(ctx, "offline", "the glasses are not connected"))
}
