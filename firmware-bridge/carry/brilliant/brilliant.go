// Package brilliant is the session of Brilliant Labs' glasses, Frame and Halo. It carries sound,
// photos, taps and motion to the node, and a short answer to the display.
package brilliant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Family is the glasses' entry in the list of families.
var Family = carry.Family{
	Name: "brilliant", Short: "Carry Brilliant Labs' Frame over Bluetooth",
	Long: `Connects to the glasses over Bluetooth (BlueZ), puts Locket's app on them where it is not
there yet, starts it, and publishes sound, photos, taps, motion and battery to the broker as
the wearable --name. An answer of the node is shown on the display for 15 s. The bridge
never erases anything on the glasses; another app that runs is stopped. A Halo is carried
too, as a Frame is: locket-bridge halo hears it better.`,
	Carrier: carry.Bluetooth, Service: frame.Service, NamePrefix: "Frame", Accepts: carry.WithPhotos, ShowsAnswers: true, Begin: begin, Simulate: func(p carry.Play) link.Dialer { return NewGlasses(p) },
	SceneKinds: []memory.Kind{memory.KindAudio, memory.KindPhoto, memory.KindButton}, SceneCodec: carry.Codec{Name: "pcm16", Rate: 8000, Frame: 15 * time.Millisecond},
}

// Timing of the setup (brilliant_sdk, brilliant_device.dart).
const (
	afterBreak = 200 * time.Millisecond
	quiet      = 250 * time.Millisecond // once nothing was printed for this long, the old app's output is drained
	answerIn   = 8                      // timeout in units of FirstWait, a second; each second a line is written again
)

// stage says how far the setup is.
type stage uint8

const (
	breaking  stage = iota // the old app was told to stop
	clearing               // its output is read and dropped
	asking                 // asking whether the app is there
	uploading              // writing the app, line by line
	starting               // starting the app
	running
)

type session struct {
	*carry.Conn
	most    int // bytes in one write
	halo    bool
	stage   stage
	since   time.Time    // when the stage last moved on
	lines   []frame.Line // lines still to be done; the first was written
	text    string       // the end of what was printed since the first line was written
	told    time.Time    // when the first line was written
	battery int          // %; -1: not known
	muted   bool
	next    time.Time // when a photo is due; zero: never

	ear    Ear
	photos frame.Photos
	taps   frame.Taps
}

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	return Begin(ctx, c, IsHalo(ctx, c.Dev), &samples{sound: carry.Sound{Codec: "pcm16", Rate: rate}})
}

// IsHalo reports whether a device is a Halo, and no Frame (brilliant_sdk, brilliant_bluetooth.dart).
func IsHalo(ctx context.Context, d link.Device) bool {
	_, err := d.Read(ctx, frame.AudioChar)
	return !errors.Is(err, link.ErrAbsent)
}

// Begin begins a session with glasses whose sound an ear reads.
func Begin(ctx context.Context, c *carry.Conn, halo bool, ear Ear) (carry.Session, error) {
	s := &session{Conn: c, most: 20, battery: -1, since: time.Now(), halo: halo, ear: ear}
	if mtu := c.Dev.MTU(); mtu > 23 {
		s.most = mtu - 3
	}
	if err := c.Dev.Subscribe(ctx, frame.NotifyChar); err != nil {
		return nil, err
	}
	firmware, err := c.Dev.Read(ctx, frame.FirmwareChar)
	version := strings.ToValidUTF8(strings.TrimRight(string(firmware), "\x00"), "")
	if err != nil || len(version) > 64 {
		version = ""
	}
	s.Note("connected", "%s, firmware %s, MTU %d", s.model(), cmp.Or(version, "unknown"), c.Dev.MTU())
	mic := !c.Client.Paused()
	if err := s.PublishLive(ctx, &wire.Hello{Header: wire.Header{At: time.Now()}, Model: s.model(), Firmware: cmp.Or(version, "unknown"), Codecs: []string{"pcm16"}, Mic: &mic}); err != nil {
		return nil, err
	}
	if c.Lossless { // a capture starts while the app runs
		s.stage = running
		return s, s.Recording(ctx, true, "")
	}
	if s.most < 100 {
		return nil, fmt.Errorf("brilliant: MTU %d: the app can't be put on the glasses, 103 are needed", c.Dev.MTU())
	}
	return s, s.write(ctx, frame.Break)
}

func (s *session) model() string {
	if s.halo {
		return "Brilliant Halo"
	}
	return "Brilliant Frame"
}

// write makes all writes to the glasses.
func (s *session) write(ctx context.Context, b []byte) error {
	if err := frame.Check(b); err != nil {
		return err
	}
	return s.Dev.Write(ctx, frame.WriteChar, b)
}

// do writes lines to the glasses one after the other, beginning with the first.
func (s *session) do(ctx context.Context, st stage, lines ...frame.Line) error {
	s.stage, s.since, s.lines = st, s.Now, lines
	return s.line(ctx)
}

// line writes the first line, or writes it again.
func (s *session) line(ctx context.Context) error {
	b, err := frame.Write(s.lines[0].Source, s.most)
	if err != nil {
		return err
	}
	s.told, s.text = s.Now, ""
	return s.write(ctx, b)
}

// send sends the app a message, if it runs.
func (s *session) send(ctx context.Context, code byte, payload []byte) error {
	if s.stage != running {
		return nil
	}
	for _, b := range frame.Message(code, payload, s.most) {
		if err := s.write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) Handle(ctx context.Context, n link.Notification) error {
	if err := s.onIdle(ctx); err != nil {
		return err
	}
	item, err := frame.Parse(n.Data)
	if err != nil {
		s.NoteDamaged(err.Error())
		return nil
	}
	if t, ok := item.(frame.Text); ok {
		return s.printed(ctx, string(t))
	}
	if s.stage == starting { // its answer was lost
		if err := s.runs(ctx); err != nil {
			return err
		}
	}
	if s.stage != running {
		return nil // from an app that ran before
	}
	return s.item(ctx, item)
}

// printed takes text: answers during the setup, and later the app's crash message.
func (s *session) printed(ctx context.Context, t string) error {
	if s.stage == running {
		if strings.Contains(t, "attempt to") || strings.Contains(t, "locket") && strings.Contains(t, "error") {
			return fmt.Errorf("brilliant: the app died: %.200q", t)
		}
		return nil
	}
	if s.stage <= clearing {
		s.since = s.Now
		return nil
	}
	s.text = (s.text + t)[max(0, len(s.text)+len(t)-512):]
	said := strings.TrimSpace(s.text)
	switch done := strings.HasSuffix(said, s.lines[0].Answer); {
	case s.stage == asking && done:
		return s.do(ctx, starting, frame.Begin())
	case s.stage == asking && said != "": // another version, or an error because the file is missing
		s.Note("app", "Locket's app is put on the glasses")
		return s.do(ctx, uploading, frame.Upload(s.most)...)
	case s.stage == uploading && done && len(s.lines) > 1:
		return s.do(ctx, uploading, s.lines[1:]...)
	case s.stage == uploading && done:
		return s.do(ctx, starting, frame.Begin())
	case s.stage == starting && done:
		return s.runs(ctx)
	case strings.Contains(said, "attempt to") || strings.Contains(said, "error"):
		return fmt.Errorf("brilliant: the glasses say %.200q", said)
	}
	return nil // a late answer to a line that was written twice
}

// runs is called once the app runs.
func (s *session) runs(ctx context.Context) error {
	s.stage = running
	if s.Options.PhotoEvery > 0 {
		s.next = s.Now
	}
	return s.listen(ctx)
}

// listen turns the microphone on, or off while the wearer pauses.
func (s *session) listen(ctx context.Context) error {
	s.muted = s.Client.Paused()
	how := byte(0)
	if !s.muted {
		how = s.ear.Listen()
		if err := s.ear.EndRecording(ctx, s.Conn, true); err != nil { // earlier sound whose end was lost
			return err
		}
	}
	if err := s.send(ctx, frame.Listen, []byte{how}); err != nil {
		return err
	}
	return s.Recording(ctx, !s.muted, "")
}

func (s *session) item(ctx context.Context, item frame.Item) error {
	switch i := item.(type) {
	case frame.Sound:
		return s.ear.Hear(ctx, s.Conn, i)
	case frame.SoundEnd:
		if len(i) > 0 {
			if err := s.ear.Hear(ctx, s.Conn, i); err != nil {
				return err
			}
		}
		return s.ear.EndRecording(ctx, s.Conn, true)
	case frame.Chunk:
		return s.lost(ctx, s.photos.Chunk(i, s.Now))
	case frame.Size:
		s.photos.Size(int(i))
	case frame.PhotoEnd:
		jpeg, lost := s.photos.End(i)
		if jpeg == nil {
			return s.lost(ctx, lost)
		}
		s.Report.Photos++
		s.Note("photo", "%d bytes", len(jpeg))
		turn := 0
		if !s.halo {
			turn = 270 // Frame's sensor is turned by 90° clockwise
		}
		return s.PublishLive(ctx, &wire.Photo{Header: wire.Header{At: s.Now}, Codec: "jpeg", Data: jpeg, Orientation: turn})
	case frame.Tap:
		if i == 0 {
			s.taps.Add(s.Now)
			return nil
		}
		return s.tapped(ctx, int(i))
	case frame.Motion:
		unit := ""
		for _, v := range []struct {
			name string
			v    [3]float64
		}{{"compass", i.Compass}, {"accelerometer", i.Accel}} {
			if err := s.PublishLive(ctx, &wire.Sensor{Header: wire.Header{At: s.Now}, Name: v.name, Values: v.v[:], Unit: unit}); err != nil {
				return err
			}
		}
	case frame.Battery:
		if int(i) == s.battery {
			return nil
		}
		s.battery = int(i)
		s.Note("battery", "%d %%", s.battery)
		return s.PublishLive(ctx, &wire.Sensor{Header: wire.Header{At: s.Now}, Name: "battery", Values: []float64{float64(i)}, Unit: "%"})
	}
	return nil
}

func (s *session) lost(ctx context.Context, why string) error {
	if why == "" {
		return nil
	}
	s.Report.LostPhotos++
	s.Note("lost", "photo: %s", why)
	return s.Gap(ctx, s.Now, "photo dropped: "+why)
}

func (s *session) tapped(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	s.Report.Presses++
	gesture, name := "single", ""
	if n > 1 {
		gesture = "double"
	}
	if n > 2 {
		name = fmt.Sprintf("%d taps", n)
	}
	s.Note("button", "%d taps", n)
	return s.PublishLive(ctx, &wire.Button{Header: wire.Header{At: s.Now}, Gesture: gesture, Name: name})
}

// onIdle ends a recording that has been silent for a while, counts taps, gives up photos, and reports
// losses.
func (s *session) onIdle(ctx context.Context) error {
	if s.ear.Idle(s.Now) {
		if err := s.ear.EndRecording(ctx, s.Conn, false); err != nil {
			return err
		}
	}
	if err := s.tapped(ctx, s.taps.Take(s.Now, false)); err != nil {
		return err
	}
	if err := s.lost(ctx, s.photos.DropLate(s.Now)); err != nil {
		return err
	}
	return s.TellLosses(ctx, false)
}

func (s *session) Tick(ctx context.Context, now time.Time) error {
	unit := max(s.FirstWait, 100*time.Millisecond)
	switch waited := now.Sub(s.since); {
	case s.stage == breaking && waited > afterBreak:
		s.stage, s.since = clearing, now
	case s.stage == clearing && waited > quiet:
		return s.do(ctx, asking, frame.Ask())
	case s.stage > clearing && s.stage < running && waited > answerIn*unit:
		return errors.New("brilliant: the glasses do not answer")
	case (s.stage == asking || s.stage == uploading) && now.Sub(s.told) > unit:
		return s.line(ctx)
	case s.stage == running && !s.next.IsZero() && !now.Before(s.next) && !s.Client.Paused():
		s.next = now.Add(time.Duration(s.Options.PhotoEach(s.battery)) * time.Second)
		if err := s.send(ctx, frame.Photo, []byte{1}); err != nil {
			return err
		}
	}
	return s.onIdle(ctx)
}

// Command does what the node asks for.
func (s *session) Command(ctx context.Context, cmd *wire.Cmd) error {
	switch cmd.Cmd {
	case wire.CmdPause, wire.CmdResume:
		if s.stage != running || s.Client.Paused() == s.muted {
			return nil
		}
		s.Note("pause", "the node says %s", cmd.Cmd)
		return s.listen(ctx)
	case wire.CmdCapture:
		if cmd.What == "photo" && !s.Client.Paused() {
			return s.send(ctx, frame.Photo, []byte{1})
		}
	case wire.CmdSay:
		s.Note("answer", "%d characters are shown", len(cmd.Text))
		return s.send(ctx, frame.Show, []byte(carry.Lines(cmd.Text, columns, rows)))
	}
	return nil
}

// Characters of the display, 640 by 400 points, in the firmware's font.
const columns, rows = 28, 6

func (s *session) End(ctx context.Context) error {
	return errors.Join(s.ear.EndRecording(ctx, s.Conn, true), s.tapped(ctx, s.taps.Take(s.Now, true)), s.lost(ctx, s.photos.Drop()),
		s.TellLosses(ctx, true), s.Status(ctx, "offline", "the glasses are not connected"))
}
