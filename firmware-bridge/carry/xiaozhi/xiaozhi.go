// Package xiaozhi is the session of a device with the Xiaozhi ESP32 firmware, for which
// the bridge is the server: the device's sound and wake words go to the node.
package xiaozhi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/voice"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is Xiaozhi's entry in the list of families.
var Family = carry.Family{
	Name: "xiaozhi", Short: "Be the server of a device with the Xiaozhi ESP32 firmware",
	Long: `Listens for a device with the Xiaozhi ESP32 firmware, and publishes what it hears to the
node as the wearable --name. It prints an address on its first line; set that as the OTA
address on the device's Wi-Fi page, which is all that has to be set. The device never gets
new firmware from here. With --mqtt it connects by MQTT and sends its sound encrypted, by UDP. What is asked after its wake word is answered aloud, by espeak-ng and
opusenc. The connection itself is not encrypted: have the device and this machine in a network
of your own.`,
	Carrier: carry.Served, ShowsAnswers: true, Accepts: carry.WithDevice, Device: "serve only the device with this `MAC`, as a0:85:e3:f4:49:34",
	Config: func(r *http.Request, at link.Server) []byte {
		var m *frame.MQTT
		if l := at.MQTT; l != nil {
			m = &frame.MQTT{Endpoint: l.Endpoint, Client: l.Client, User: l.User, Password: l.Password, Publish: "device-server", Subscribe: "null"}
		}
		return frame.Config(time.Now(), r.UserAgent(), at.URL, at.Key, m)
	},
	Begin: begin, Simulate: simulate,
	SceneKinds: []memory.Kind{memory.KindAudio}, SceneCodec: carry.Codec{Name: "opus", Rate: 16000, Frame: 60 * time.Millisecond},
}

const (
	helloWithin = 10 * time.Second // the device gives up after that, and so does the bridge
	awakeEvery  = 60 * time.Second // the device hangs up after 120 s without a message
	rate        = 16000
)

var errPaused = errors.New("the wearer has paused: the device has to be idle")

type session struct {
	*carry.Conn
	version int    // version of the WebSocket's binary messages
	udp     string // host:port for the datagrams of a device that came by MQTT; empty: by WebSocket
	id      string
	greeted bool // over the WebSocket until it ends, over MQTT until the goodbye
	began   time.Time
	awake   time.Time // when something was last written
	sound   carry.Sound
	spoken  voice.Playing // the answer that is played
	silent  time.Time     // nothing of it is sent before then
	speaks  bool          // the device was sent an answer's start, and not its end

	channel *frame.UDP // the datagram channel of the latest hello over MQTT
	from    string     // the source of its datagrams, as a topic; empty: none came
	late    time.Time  // when the latest datagram came
}

// begin does little, because the device identifies itself in its first notification.
func begin(_ context.Context, c *carry.Conn) (carry.Session, error) {
	return &session{Conn: c, version: 1, id: rand.Text(), began: time.Now(), sound: carry.Sound{Codec: "opus", Rate: rate}}, nil
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.EndSilent(ctx, &s.sound); err != nil {
		return err
	}
	if strings.HasPrefix(n.Char, link.Datagram) {
		return s.datagram(ctx, n)
	}
	body, text := n.Data, n.Char == link.Text
	switch n.Char {
	case link.Opened:
		return s.opened(n.Data)
	case link.Binary:
		var err error
		if body, text, err = frame.Parse(s.version, n.Data); err != nil {
			s.NoteDamaged(err.Error())
			return nil
		}
	}
	if text {
		return s.takeMessage(ctx, body)
	}
	if !s.greeted {
		s.NoteDamaged("xiaozhi: sound before the hello")
		return nil
	}
	return s.takeSound(ctx, body)
}

func (s *session) opened(b []byte) error {
	var o link.Opening
	if err := json.Unmarshal(b, &o); err != nil {
		return fmt.Errorf("xiaozhi: %w", err)
	}
	if s.udp = o.UDP; s.udp != "" {
		s.Note("connected", "Xiaozhi device %.17s, by MQTT", o.Device)
		return nil
	}
	switch v, err := strconv.Atoi(o.Version); {
	case o.Version == "":
	case err != nil || v < 1 || v > 3:
		return fmt.Errorf("xiaozhi: protocol version %.8q is not known", o.Version)
	default:
		s.version = v
	}
	s.Note("connected", "Xiaozhi device %.17s, protocol version %d", o.Device, s.version)
	return nil
}

func (s *session) write(ctx context.Context, b []byte) error {
	s.awake = time.Now()
	return s.Dev.Write(ctx, link.Text, b)
}

// takeMessage handles what the device sends apart from sound.
func (s *session) takeMessage(ctx context.Context, b []byte) error {
	m, err := frame.Read(b)
	if err != nil {
		s.NoteDamaged(err.Error())
		return nil
	}
	switch {
	case m.Type == "hello":
		return s.hello(ctx, m)
	case m.Type == "listen" && m.State == "detect":
		s.Report.Presses++
		s.Note("button", "wake word %.64q", m.Text)
		name := m.Text
		if len(name) > 64 {
			name = ""
		}
		return s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: s.Now}, Gesture: "single", Name: name})
	case m.Type == "abort": // the wearer interrupts the answer
		return s.quiet(ctx)
	case m.Type == "goodbye" && s.udp != "":
		return s.idle(ctx)
	case m.Type == "listen" && m.State == "stop", m.Type == "goodbye":
		return errors.Join(s.flush(ctx), s.sound.EndRecording(ctx, s.Conn))
	}
	return nil // listen start, mcp, and messages of newer firmware
}

// hello answers a hello. One that is not the first resets the session.
func (s *session) hello(ctx context.Context, m frame.Message) error {
	switch {
	case s.Client.Paused() && s.udp != "":
		return nil // the device waits 10 s for an answer, and then is idle
	case s.Client.Paused():
		return errPaused
	}
	if err := errors.Join(s.flush(ctx), s.sound.EndRecording(ctx, s.Conn)); err != nil {
		return err
	}
	if m.Audio.Format != "" && m.Audio.Format != "opus" || m.Audio.Channels > 1 {
		return fmt.Errorf("xiaozhi: sound as %.16q with %d channels is not supported", m.Audio.Format, m.Audio.Channels)
	}
	answer := frame.Hello(s.id)
	if s.udp != "" {
		var err error
		if answer, err = s.open(ctx); err != nil {
			return err
		}
	}
	if err := s.write(ctx, answer); err != nil {
		return err
	}
	s.greeted = true
	mic := true
	if err := s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: "Xiaozhi ESP32", Firmware: "unknown", Codecs: []string{"opus"}, Mic: &mic}); err != nil {
		return err
	}
	return s.Recording(ctx, true, "")
}

func (s *session) takeSound(ctx context.Context, packet []byte) error {
	lasts := frame.Duration(packet)
	if lasts <= 0 || lasts > 120*time.Millisecond {
		s.NoteDamaged(fmt.Sprintf("xiaozhi: a packet of %d bytes that is no Opus", len(packet)))
		return nil
	}
	m, err := s.sound.Add(packet, lasts, s.Now)
	if err != nil {
		s.NoteDamaged(err.Error())
	} else {
		s.Report.Frames++
		s.Report.Sound += lasts
	}
	if m == nil {
		return nil
	}
	return s.PublishLive(ctx, m)
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	switch {
	case !s.greeted && s.udp == "" && now.Sub(s.began) > helloWithin:
		return fmt.Errorf("xiaozhi: no hello within %s", helloWithin)
	case s.greeted && now.Sub(s.awake) > awakeEvery:
		if err := s.write(ctx, frame.Awake(s.id)); err != nil {
			return err
		}
	}
	if now.Sub(s.late) > lateBy {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	if err := s.speak(ctx, now); err != nil {
		return err
	}
	return s.EndSilent(ctx, &s.sound)
}

// Command implements [carry.Session]. When its connection ends, a device is idle, and records
// nothing.
func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	switch {
	case cmd.Cmd == wire.CmdPause && s.Client.Paused() && s.udp != "":
		if !s.greeted {
			return nil
		}
		return errors.Join(s.write(ctx, frame.Goodbye(s.id)), s.idle(ctx))
	case cmd.Cmd == wire.CmdPause && s.Client.Paused():
		return errPaused
	case cmd.Cmd == wire.CmdSay && s.greeted:
		return s.answer(ctx, cmd.Text)
	}
	return nil
}

// ahead is how far ahead of playback sound is sent; the device can buffer 2.4 s.
const ahead = 1200 * time.Millisecond

// overtaken is how long sound in datagrams waits after "start", which comes by MQTT. The device
// drops sound that comes before "start".
const overtaken = 200 * time.Millisecond

// answer begins an answer, and stops the one that is being played.
func (s *session) answer(ctx context.Context, text string) error {
	packets, err := voice.Opus(ctx, text)
	if err != nil {
		s.Note("warning", "%v", err)
		return nil
	}
	if err := s.quiet(ctx); err != nil {
		return err
	}
	s.Note("answer", "%d characters are spoken", len(text))
	if err := s.write(ctx, frame.Speech(s.id, "start", "")); err != nil {
		return err
	}
	if err := s.write(ctx, frame.Speech(s.id, "sentence_start", text)); err != nil {
		return err
	}
	now := time.Now()
	if s.spoken, s.speaks = voice.Play(packets, voice.Frame, ahead, now), true; s.udp != "" {
		s.silent = now.Add(overtaken)
	}
	return s.speak(ctx, time.Now())
}

// speak sends the part of an answer that is due.
func (s *session) speak(ctx context.Context, now time.Time) error {
	if now.Before(s.silent) {
		return nil
	}
	packets, before := s.spoken.Due(now)
	for i, p := range packets {
		ms := uint32(before+i) * uint32(voice.Frame/time.Millisecond)
		to, b := link.Binary, []byte(nil)
		switch {
		case s.udp == "":
			b = frame.Frame(s.version, ms, p)
		case s.from == "":
			continue // its address is unknown until it has sent something
		default:
			to, b = s.from, s.channel.Seal(ms, p)
		}
		if err := s.Dev.Write(ctx, to, b); err != nil {
			return err
		}
	}
	if s.spoken.On(now) {
		return nil
	}
	return s.quiet(ctx)
}

// quiet ends an answer. In automatic mode the device then listens again.
func (s *session) quiet(ctx context.Context) error {
	if !s.speaks {
		return nil
	}
	s.spoken, s.speaks = voice.Playing{}, false
	return s.write(ctx, frame.Speech(s.id, "stop", ""))
}

func (s *session) End(ctx context.Context) error {
	err := errors.Join(s.flush(ctx), s.sound.EndRecording(ctx, s.Conn), s.TellLosses(ctx, true))
	if !s.greeted {
		return err
	}
	return errors.Join(err, s.Status(ctx, "offline", "the device is idle"))
}
