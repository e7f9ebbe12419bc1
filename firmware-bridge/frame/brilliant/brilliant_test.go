package brilliant

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

func TestNotifications(t *testing.T) {
	var v struct {
		Notifications []struct {
			Name, Hex, Kind, Text string
			Bytes, Taps, Percent  int
			Compass, Accel        []float64
		}
	}
	frametest.Vectors(t, "notifications.json", &v)
	bad := map[string]error{"imu too short: passed over": ErrLength, "data flag alone": ErrLength, "empty": ErrLength}
	for _, c := range v.Notifications {
		got, err := Parse(frametest.Unhex(t, c.Hex))
		if want := bad[c.Name]; !errors.Is(err, want) || (want != nil) != (c.Kind == "none") || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", c.Name, err)
		}
		ok := c.Kind == "none"
		switch i := got.(type) {
		case Text:
			ok = c.Kind == "text" && (c.Text == "" || string(i) == c.Text)
		case Sound:
			ok = c.Kind == "audio" && len(i) == c.Bytes
		case SoundEnd:
			ok = c.Kind == "audio-end" && len(i) == c.Bytes
		case Chunk:
			ok = c.Kind == "photo" && len(i) == c.Bytes
		case PhotoEnd:
			ok = c.Kind == "photo-end" && len(i) == c.Bytes
		case Tap:
			ok = c.Kind == "tap" && int(i) == c.Taps
		case Battery:
			ok = c.Kind == "battery" && int(i) == c.Percent
		case Motion:
			near := func(a [3]float64, b []float64) bool {
				return slices.EqualFunc(a[:], b, func(x, y float64) bool { return math.Abs(x-y) < 1e-4 })
			}
			ok = c.Kind == "imu" && near(i.Compass, c.Compass) && near(i.Accel, c.Accel)
		}
		if !ok {
			t.Errorf("%s: %T %v", c.Name, got, got)
		}
	}
	for s, want := range map[string]error{"0105": ErrLength, "0107": ErrLength, "010900": ErrLength, "010904": ErrLength, "010c": ErrLength, "010c65": ErrLength, "010d00": ErrLength, "01ff": ErrCode,
		"010a000000c07f000000000000000000000000000000000000": ErrFormat} {
		if got, err := Parse(frametest.Unhex(t, s)); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
}

func TestMessages(t *testing.T) {
	var v struct {
		Cases []struct {
			Code    byte
			Payload string
			Writes  []string
		}
	}
	frametest.Vectors(t, "messages.json", &v)
	for _, c := range v.Cases {
		got := Message(c.Code, frametest.Unhex(t, c.Payload), 244)
		var want [][]byte
		for _, w := range c.Writes {
			want = append(want, frametest.Unhex(t, w))
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%d bytes: %x", len(c.Payload)/2, got)
		}
	}
	if got := Message(Show, nil, 244); got != nil {
		t.Errorf("%x", got)
	}
}

// Nothing that reboots or erases is ever written, neither as a control byte nor as a line of Lua.
func TestThreatGlassesErased(t *testing.T) {
	for b := range 256 {
		one := []byte{byte(b)}
		if err := Check(one); errors.Is(err, ErrControl) != (b < ' ' && b != 1 && b != 3 && b != 4) {
			t.Errorf("%02x: %v", b, err)
		}
		if err := Check([]byte{byte(b), 'x'}); errors.Is(err, ErrControl) != (b < ' ' && b != 1) {
			t.Errorf("%02x and more: %v", b, err)
		}
		if _, err := Write(string(rune(b)), 244); b < ' ' && !errors.Is(err, ErrLine) {
			t.Errorf("a line of %02x: %v", b, err)
		}
	}
	for _, s := range []string{"", "a\nb", "a\rb", strings.Repeat("x", 245)} {
		if _, err := Write(s, 244); !errors.Is(err, ErrLine) {
			t.Errorf("%.10q: %v", s, err)
		}
	}
	for _, most := range []int{100, 244, 511} {
		for _, l := range append(Upload(most), Ask(), Begin()) {
			b, err := Write(l.Source, max(most, 160))
			if err != nil || Check(b) != nil {
				t.Errorf("%s: %v", l.Source, err)
			}
		}
	}
}

func TestPhotos(t *testing.T) {
	var v struct{ Notifications []string }
	frametest.Vectors(t, "photo.json", &v)
	want, err := os.ReadFile("../omi/testdata/photo.jpg")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	push := func(p *Photos, list []string) (jpeg []byte, lost string) {
		for _, s := range list {
			item, err := Parse(frametest.Unhex(t, s))
			if err != nil {
				t.Fatal(err)
			}
			switch i := item.(type) {
			case Chunk:
				if l := p.Chunk(i, now); l != "" {
					lost += l + "; "
				}
			case Size:
				p.Size(int(i))
			case PhotoEnd:
				j, l := p.End(i)
				if l != "" {
					lost += l + "; "
				}
				jpeg = j
			case Text, Tap, Battery: // these may come in between
			default:
				t.Fatalf("%T", item)
			}
		}
		return jpeg, lost
	}
	all := v.Notifications
	n := len(all)
	between := slices.Concat(all[:3], []string{"68656c6c6f", "0109", "010c40"}, all[3:])
	size := func(n int) string { return "010d" + hex.EncodeToString([]byte{0, 0, byte(n >> 8), byte(n)}) }
	for _, c := range []struct {
		name string
		in   []string
		want bool
		lost string
	}{
		{"whole", all, true, ""},
		{"others between", between, true, ""},
		{"its size is right", slices.Concat(all[:n-1], []string{size(len(want)), "0108"}), true, ""},
		{"its size is wrong", slices.Concat(all[:9], all[10:n-1], []string{size(len(want)), "0108"}), false, "242 bytes of it are missing, after 25008 bytes; "},
		{"its end is lost, and the next comes", slices.Concat(all[:n-1], all), true, "the next began before its end, after 25250 bytes; "},
		{"its beginning is lost", all[1:], false, "it does not begin like a JPEG: its beginning is lost; "},
		{"its last chunk is lost", slices.Concat(all[:n-2], all[n-1:]), false, "it does not end like a JPEG, after 25168 bytes; "},
		{"an end alone", []string{"0108"}, false, "its end came, but nothing before it; "},
	} {
		var p Photos
		got, lost := push(&p, c.in)
		if (got != nil) != c.want || c.want && !bytes.Equal(got, want) || lost != c.lost {
			t.Errorf("%s: %d bytes, lost %q", c.name, len(got), lost)
		}
		if again, lost := push(&p, all); !bytes.Equal(again, want) || lost != "" {
			t.Errorf("%s, and then a whole one: %d bytes, %q", c.name, len(again), lost)
		}
	}
	var p Photos
	push(&p, all[:5])
	if lost := p.DropLate(now.Add(time.Second)); lost != "" {
		t.Error(lost)
	}
	if lost := p.DropLate(now.Add(3 * time.Second)); lost == "" || p.DropLate(now.Add(9*time.Second)) != "" || p.Drop() != "" {
		t.Error(lost)
	}
	for range MaxPhoto/240 + 2 {
		push(&p, all[:1])
		if lost := p.Chunk(make([]byte, MaxPhoto), now); !strings.HasPrefix(lost, "over") {
			t.Fatal(lost)
		}
	}
}

func TestTaps(t *testing.T) {
	var taps Taps
	at := time.Unix(1e9, 0)
	ms := func(n int) time.Time { return at.Add(time.Duration(n) * time.Millisecond) }
	for _, n := range []int{0, 20, 200, 380} { // the second one is a bounce
		taps.Add(ms(n))
		if got := taps.Take(ms(n+100), false); got != 0 {
			t.Errorf("%d after %d ms", got, n)
		}
	}
	if got := taps.Take(ms(700), false); got != 3 || taps.Take(ms(2000), true) != 0 {
		t.Error(got)
	}
	taps.Add(ms(3000))
	if got := taps.Take(ms(3001), true); got != 1 {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	var v struct{ Notifications []struct{ Hex string } }
	frametest.Vectors(f, "notifications.json", &v)
	for _, n := range v.Notifications {
		f.Add(frametest.Unhex(f, n.Hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		item, err := Parse(b)
		if (err == nil) != (item != nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v, %v", item, err)
		}
		var p Photos
		for range 3 {
			switch i := item.(type) {
			case Chunk:
				p.Chunk(i, time.Time{})
			case PhotoEnd:
				p.End(i)
			}
		}
		for _, w := range Message(Show, b, 100) {
			if err := Check(w); err != nil {
				t.Error(err)
			}
		}
	})
}
