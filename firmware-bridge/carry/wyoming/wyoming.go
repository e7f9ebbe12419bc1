// Package wyoming is the session of a Wyoming satellite, a voice device of Home
// Assistant's family, for which the bridge is the server.
package wyoming

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/voice"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the satellites' entry in the list of families.
var Family = carry.Family{
	Name: "wyoming", Short: "Carry what a Wyoming satellite hears",
	Long: `Connects to a Wyoming satellite as Home Assistant would, and publishes what it hears, and
its wake words, to the node as the wearable --name. A satellite serves one server at a
time: take it out of Home Assistant first. What is asked after its wake word is answered
aloud, by espeak-ng. Wyoming has neither passwords nor encryption: have the satellite and
this machine in a network of your own.`,
	Carrier: carry.TCP, ShowsAnswers: true, Begin: begin, Simulate: simulate,
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "pcm16", Rate: 16000, Frame: 64 * time.Millisecond},
}

// Home Assistant's timing (homeassistant/components/wyoming/assist_satellite.py), in units of
// FirstWait, a second.
const (
	pingEvery = 2
	goneAfter = 5 // the satellite counts as gone when it is silent for this long
)

// These decide when an utterance has ended, for satellites that send sound until they are told that
// it was understood, and don't mark its end themselves.
const (
	quiet   = 300                     // mean absolute value of samples below which it is quiet, about -40 dBFS
	rest    = 1500 * time.Millisecond // after this much quiet it has ended
	longest = 30 * time.Second        // it has ended after so long in any case
)

type session struct {
	*carry.Conn
	in      frame.Decoder
	sound   carry.Sound
	on      bool // the satellite was told to run
	until   bool // it sends until it is told that it was understood
	silence time.Duration
	spoken  time.Duration // duration of sound since the pipeline began
	pinged  time.Time
	heard   time.Time // when the satellite last sent something
	greeted bool
	aloud   voice.Playing // the answer that is played
	speaks  bool          // the satellite was sent an answer's start, and not its end
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	s := &session{Conn: c, sound: carry.Sound{Codec: "pcm16"}, heard: time.Now()}
	if err := s.run(ctx, !c.Client.Paused()); err != nil {
		return nil, err
	}
	return s, s.send(ctx, "describe", nil)
}

func (s *session) send(ctx context.Context, kind string, data map[string]any) error {
	b, err := frame.Append(nil, frame.Event{Type: kind, Data: data})
	if err != nil {
		return err
	}
	return s.Dev.Write(ctx, link.Stream, b)
}

// run tells the satellite to listen, or to stop.
func (s *session) run(ctx context.Context, on bool) error {
	s.on = on
	if on {
		return s.send(ctx, "run-satellite", nil)
	}
	return s.send(ctx, "pause-satellite", nil)
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	s.heard = time.Now()
	if err := s.EndSilent(ctx, &s.sound); err != nil {
		return err
	}
	list, err := s.in.Push(n.Data)
	for i := range list {
		if err := s.event(ctx, &list[i]); err != nil {
			return err
		}
	}
	if err != nil {
		s.NoteDamaged(err.Error())
	}
	return err // the rest can't be read
}

func (s *session) event(ctx context.Context, e *frame.Event) error {
	switch e.Type {
	case "info":
		return s.hello(ctx, e)
	case "ping":
		return s.send(ctx, "pong", map[string]any{"text": e.Data["text"]})
	case "detection":
		name := e.Text("name")
		s.Report.Presses++
		s.Note("button", "wake word %.64q", name)
		if len(name) > 64 {
			name = ""
		}
		s.begin(true)
		return s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: s.Now}, Gesture: "single", Name: name})
	case "run-pipeline":
		s.begin(e.Text("start_stage") != "wake")
	case "audio-chunk":
		return s.chunk(ctx, e)
	case "audio-stop", "voice-stopped", "streaming-stopped":
		return s.sound.EndRecording(ctx, s.Conn)
	case "error":
		s.Note("warning", "the satellite says: %.200q", e.Text("text"))
	}
	return nil // what the satellite played, and events of newer ones
}

func (s *session) begin(until bool) { s.until, s.silence, s.spoken = until, 0, 0 }

func (s *session) hello(ctx context.Context, e *frame.Event) error {
	if s.greeted {
		return nil
	}
	s.greeted = true
	model, firmware := "Wyoming satellite", "unknown"
	if sat, ok := e.Data["satellite"].(map[string]any); ok {
		if name, ok := sat["name"].(string); ok && name != "" && len(name) < 100 {
			model += " " + name
		}
		if v, ok := sat["version"].(string); ok && v != "" && len(v) < 100 {
			firmware = v
		}
	}
	s.Note("connected", "%s, version %s", model, firmware)
	mic := s.on
	if err := s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: model, Firmware: firmware, Codecs: []string{"pcm16"}, Mic: &mic}); err != nil {
		return err
	}
	return s.Recording(ctx, s.on, "")
}

// chunk handles sound, which may come without an audio-start.
func (s *session) chunk(ctx context.Context, e *frame.Event) error {
	pcm, rate, err := e.Sound()
	if err != nil {
		s.NoteDamaged(err.Error())
		return nil
	}
	if rate != s.sound.Rate {
		if err := s.sound.EndRecording(ctx, s.Conn); err != nil {
			return err
		}
		s.sound.Rate = rate
	}
	// A satellite with a buffer sends the earlier sound at once.
	for len(pcm) > 0 {
		part := pcm[:min(len(pcm), 2*rate)]
		pcm = pcm[len(part):]
		lasts := time.Duration(len(part)/2) * time.Second / time.Duration(rate)
		m, err := s.sound.Add(part, lasts, s.Now)
		if err != nil {
			s.NoteDamaged(err.Error())
			return nil
		}
		s.Report.Frames++
		s.Report.Sound += lasts
		if m != nil {
			if err := s.PublishLive(ctx, m); err != nil {
				return err
			}
		}
		if err := s.understood(ctx, part, lasts); err != nil {
			return err
		}
	}
	return nil
}

// understood tells a satellite that waits for it when an utterance has ended. No words are sent,
// because the node transcribes later.
func (s *session) understood(ctx context.Context, pcm []byte, lasts time.Duration) error {
	s.spoken += lasts
	if s.silence += lasts; loudness(pcm) >= quiet {
		s.silence = 0
	}
	if !s.until || s.silence < rest && s.spoken < longest {
		return nil
	}
	s.begin(false)
	if err := s.sound.EndRecording(ctx, s.Conn); err != nil {
		return err
	}
	if err := s.send(ctx, "voice-stopped", map[string]any{"timestamp": nil}); err != nil {
		return err
	}
	return s.send(ctx, "transcript", map[string]any{"text": ""})
}

// loudness returns the mean absolute value of samples.
func loudness(pcm []byte) int {
	sum := 0
	for at := 0; at+1 < len(pcm); at += 2 {
		n := int(int16(uint16(pcm[at]) | uint16(pcm[at+1])<<8))
		sum += max(n, -n)
	}
	return sum / max(len(pcm)/2, 1)
}

// Tick implements [carry.Session]. A satellite that lost its power sends nothing any more, and TCP
// does not notice.
func (s *session) Tick(ctx context.Context, now time.Time) error {
	unit := max(s.FirstWait, 100*time.Millisecond)
	if now.Sub(s.heard) > goneAfter*unit {
		return errors.New("wyoming: the satellite no longer answers")
	}
	if now.Sub(s.pinged) > pingEvery*unit {
		s.pinged = now
		if err := s.send(ctx, "ping", map[string]any{"text": fmt.Sprint(now.UnixMilli())}); err != nil {
			return err
		}
	}
	if err := s.speak(ctx, now); err != nil {
		return err
	}
	return s.EndSilent(ctx, &s.sound)
}

func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	if cmd.Cmd == wire.CmdSay && s.on {
		return s.answer(ctx, cmd.Text)
	}
	if on := !s.Client.Paused(); cmd.Cmd != wire.CmdPause && cmd.Cmd != wire.CmdResume || on == s.on {
		return nil
	}
	s.Note("pause", "the node says %s", cmd.Cmd)
	err := errors.Join(s.sound.EndRecording(ctx, s.Conn), s.run(ctx, !s.on))
	return errors.Join(err, s.Recording(ctx, s.on, "the wearer's wish"))
}

// For an answer: how much sound goes in one chunk, as the satellites themselves send it, and how
// far ahead of playback it is sent.
const (
	piece = 1024 // samples
	ahead = 3 * time.Second
)

func format() map[string]any { return map[string]any{"rate": voice.Rate, "width": 2, "channels": 1} }

// answer makes the satellite play an answer, and stops the one that is being played.
func (s *session) answer(ctx context.Context, text string) error {
	pcm, err := voice.Speak(ctx, text)
	if err != nil {
		s.Note("warning", "%v", err)
		return nil
	}
	if err := s.endAnswer(ctx); err != nil {
		return err
	}
	s.Note("answer", "%d characters are spoken", len(text))
	var pieces [][]byte
	for ; len(pcm) > 0; pcm = pcm[min(len(pcm), 2*piece):] {
		pieces = append(pieces, pcm[:min(len(pcm), 2*piece)])
	}
	if err := s.send(ctx, "audio-start", format()); err != nil {
		return err
	}
	s.aloud, s.speaks = voice.Play(pieces, piece*time.Second/voice.Rate, ahead, time.Now()), true
	return s.speak(ctx, time.Now())
}

// speak sends the part of an answer that is due.
func (s *session) speak(ctx context.Context, now time.Time) error {
	pieces, _ := s.aloud.Due(now)
	for _, p := range pieces {
		b, err := frame.Append(nil, frame.Event{Type: "audio-chunk", Data: format(), Payload: p})
		if err != nil {
			return err
		}
		if err := s.Dev.Write(ctx, link.Stream, b); err != nil {
			return err
		}
	}
	if s.aloud.On(now) {
		return nil
	}
	return s.endAnswer(ctx)
}

// endAnswer ends an answer.
func (s *session) endAnswer(ctx context.Context) error {
	if !s.speaks {
		return nil
	}
	s.aloud, s.speaks = voice.Playing{}, false
	return s.send(ctx, "audio-stop", nil)
}

// End implements [carry.Session]. It tells the satellite to stop, if the satellite can still be
// reached.
func (s *session) End(ctx context.Context) error {
	_ = s.run(ctx, false)
	return errors.Join(s.sound.EndRecording(ctx, s.Conn), s.TellLosses(ctx, true), s.Status(ctx, "offline", "the satellite is not connected"))
}
