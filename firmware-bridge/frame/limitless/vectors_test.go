package limitless

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

type golden struct {
	Name          string
	Packets       []string
	ExpectedPages []struct {
		Index, Session uint64
		TimestampMs    int64
		Frames         []string
	}
	ExpectedStorageState *struct {
		Oldest  uint64 `json:"oldest_flash_page"`
		Newest  uint64 `json:"newest_flash_page"`
		Session uint64 `json:"current_storage_session"`
		Free    uint64 `json:"free_capture_pages"`
		All     uint64 `json:"total_capture_pages"`
	}
	Vectors []struct {
		Name        string
		TimestampMs int64
		UpToIndex   uint64
		Hex         string
	}
}

func load(t testing.TB) (list []golden) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) != 12 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatal(err)
		}
		if g.Name == "" {
			g.Name = filepath.Base(name)
		}
		list = append(list, g)
	}
	return list
}

// Omi's own vectors, with what Omi's parser makes of each.
func TestVectors(t *testing.T) {
	undelivered := map[string]bool{"audio_page_zero_frames": true, "fixed64_fields_page": true, "unknown_wiretype_page": true}
	for _, g := range load(t) {
		if len(g.Packets) == 0 {
			continue // encoders.json
		}
		var a Assembler
		var pages []*Page
		var status *Status
		var ends []error
		for _, p := range g.Packets {
			b, err := a.Push(frametest.Unhex(t, p))
			if err != nil {
				t.Fatalf("%s: %v", g.Name, err)
			}
			if b == nil {
				continue
			}
			m, err := Parse(b)
			if err != nil {
				t.Fatalf("%s: %v", g.Name, err)
			}
			if m.Err != nil {
				ends = append(ends, m.Err)
			} else if m.Storage != nil {
				pages = append(pages, m.Storage)
			}
			if m.Status != nil {
				status = m.Status
			}
		}
		if (len(ends) == 1 && errors.Is(ends[0], ErrNoSound)) != undelivered[g.Name] {
			t.Errorf("%s: %v", g.Name, ends)
		}
		if len(pages) != len(g.ExpectedPages) || a.Lost != 0 {
			t.Fatalf("%s: %d pages, want %d", g.Name, len(pages), len(g.ExpectedPages))
		}
		for i, want := range g.ExpectedPages {
			p := pages[i]
			var frames []string
			for _, f := range p.Frames {
				frames = append(frames, hex.EncodeToString(f))
			}
			if p.Index != want.Index || p.Session != want.Session || p.At.UnixMilli() != want.TimestampMs || strings.Join(frames, " ") != strings.Join(want.Frames, " ") {
				t.Errorf("%s: %d %d %s, %d frames, want %d\n%s", g.Name, p.Index, p.Session, p.At, len(frames), len(want.Frames), strings.Join(frames, "\n"))
			}
		}
		if want := g.ExpectedStorageState; want != nil && (status == nil || *status != Status{want.Oldest, want.Newest, want.Session, want.Free, want.All}) {
			t.Errorf("%s: %+v", g.Name, status)
		}
	}
}

func TestEncoders(t *testing.T) {
	for _, g := range load(t) {
		var e Encoder
		for _, v := range g.Vectors {
			var got []byte
			switch v.Name {
			case "msg6_set_current_time":
				got = e.SetClock(time.UnixMilli(v.TimestampMs))
			case "msg8_realtime_connect", "msg8_realtime_batch_off":
				got = e.Live()
			case "msg8_batch_on":
				got = e.Stored()
			case "msg7_ack_12345":
				got = e.Forget(v.UpToIndex)
			case "msg21_get_device_status":
				got = e.AskStatus()
			case "msg8_record_to_flash":
				got = e.Record()
			default:
				t.Fatalf("%s is not known", v.Name)
			}
			if !bytes.Equal(got, frametest.Unhex(t, v.Hex)) {
				t.Errorf("%s: %x, want %s", v.Name, got, v.Hex)
			}
		}
	}
}

// The assembler copes with lost, repeated and swapped packets, and with invalid ones.
func TestAssembler(t *testing.T) {
	packet := func(index, n, of uint64, data string) []byte {
		return bytesField(number(number(number(nil, 1, index), 2, n), 3, of), 4, []byte(data))
	}
	var a Assembler
	var got []string
	for _, p := range [][]byte{packet(1, 1, 2, "b"), packet(2, 0, 1, "x"), packet(1, 1, 2, "c"), packet(1, 0, 2, "a")} {
		b, err := a.Push(p)
		if err != nil {
			t.Fatal(err)
		}
		if b != nil {
			got = append(got, string(b))
		}
	}
	if strings.Join(got, " ") != "x ab" || a.Lost != 0 {
		t.Errorf("%q, %d lost", got, a.Lost)
	}
	for i := range uint64(20) {
		if _, err := a.Push(packet(10+i, 0, 2, "a")); err != nil {
			t.Fatal(err)
		}
	}
	if a.Lost != 20-maxPending || len(a.pending) != maxPending || len(a.order) != maxPending {
		t.Errorf("%d lost, %d pending", a.Lost, len(a.pending))
	}
	for _, c := range []struct {
		name string
		in   []byte
		err  string
	}{
		{"empty", nil, "packet: malformed"},
		{"no payload", number(number(nil, 1, 1), 3, 1), "packet: malformed"},
		{"fragment beyond the last", packet(1, 2, 2, "a"), "fragment 2 of 2"},
		{"none of none", packet(1, 0, 0, "a"), "fragment 0 of 0"},
		{"too many fragments", packet(1, 0, 1<<40, "a"), "fragment 0 of 1099511627776"},
		{"cut off", packet(1, 0, 1, "abc")[:8], "a length goes beyond"},
		{"a group", []byte{0x0b}, "unknown wire type"},
	} {
		if _, err := a.Push(c.in); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	a = Assembler{}
	var err error
	for i := range uint64(maxFragments) {
		if _, err = a.Push(packet(1, i, maxFragments, strings.Repeat("x", 2000))); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "more than 262144 bytes") {
		t.Errorf("%v", err)
	}
}

func TestButtonPress(t *testing.T) {
	for v, want := range map[uint64]string{0: "", 1: "1", 2: "2", 3: "3", 4: "error"} {
		m, err := Parse(bytesField(nil, 8, number(nil, 1, v)))
		got := ""
		if m.Press != nil {
			got = string('0' + rune(*m.Press))
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%d: %s, %v", v, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, g := range load(f) {
		for _, p := range g.Packets {
			f.Add(frametest.Unhex(f, p))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var a Assembler
		b, err := a.Push(in)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			return
		}
		m, err := Parse(b)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
		if m.Storage != nil && m.Err == nil {
			for _, fr := range m.Storage.Frames {
				if len(fr) < minFrame || len(fr) > maxFrame || Duration(fr) == 0 {
					t.Errorf("a frame of %d bytes", len(fr))
				}
			}
		}
	})
}

// What the simulator sends as a pendant reads back unchanged.
func TestDevice(t *testing.T) {
	page := Page{Index: 9, Session: 2, At: time.UnixMilli(1773489600123).UTC(), Ends: true}
	for i := range 40 {
		page.Frames = append(page.Frames, append([]byte{0xb0}, make([]byte, 10+i)...))
	}
	press := Button(3)
	live := append([]byte{0x78}, make([]byte, 30)...)
	b := AppendPage(nil, page)
	b = AppendStatus(b, Status{1, 2, 3, 4, 5})
	b = AppendLive(AppendPress(b, press), live)
	var a Assembler
	var m Message
	for _, p := range Split(7, b, 100) {
		whole, err := a.Push(p)
		if err != nil {
			t.Fatal(err)
		}
		if whole != nil {
			if m, err = Parse(whole); err != nil {
				t.Fatal(err)
			}
		}
	}
	if m.Storage == nil || m.Status == nil || m.Press == nil || *m.Press != press || *m.Status != (Status{1, 2, 3, 4, 5}) || len(m.Live) != 1 || !bytes.Equal(m.Live[0], live) {
		t.Fatalf("%+v", m)
	}
	if got := m.Storage; got.Index != 9 || got.Session != 2 || !got.At.Equal(page.At) || !got.Ends || len(got.Frames) != 40 || Duration(got.Frames[0]) != 10*time.Millisecond || Duration(live) != 20*time.Millisecond {
		t.Errorf("%+v", got)
	}
	m, err := Parse(AppendPage(nil, Page{Index: 10, At: page.At}))
	if err != nil || m.Err != nil || m.Storage == nil || len(m.Storage.Frames) != 0 {
		t.Errorf("a diagnostic page: %+v, %v", m, err)
	}
	var e Encoder
	for want, in := range map[string][]byte{"clock": e.SetClock(page.At), "forget": e.Forget(12), "mode": e.Stored(), "status": e.AskStatus()} {
		whole, err := a.Push(in)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseCommand(whole)
		ok := map[string]bool{"clock": c.Clock != nil && c.Clock.Equal(page.At), "forget": c.Forget != nil && *c.Forget == 12,
			"mode": c.Mode != nil && *c.Mode == Mode{true, false}, "status": c.AskStatus}[want]
		if err != nil || !ok {
			t.Errorf("%s: %+v, %v", want, c, err)
		}
	}
}
