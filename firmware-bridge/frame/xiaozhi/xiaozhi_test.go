package xiaozhi

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

type framing struct {
	Opus []string
	V1   []string `json:"ws_v1"`
	V2   []string `json:"ws_v2"`
	V3   []string `json:"ws_v3"`
}

func TestFraming(t *testing.T) {
	var v framing
	frametest.Vectors(t, "framing.json", &v)
	for version, list := range map[int][]string{1: v.V1, 2: v.V2, 3: v.V3} {
		if len(list) != len(v.Opus) {
			t.Fatal(len(list))
		}
		for i, s := range list {
			want := frametest.Unhex(t, v.Opus[i])
			got, text, err := Parse(version, frametest.Unhex(t, s))
			if err != nil || text || !bytes.Equal(got, want) {
				t.Errorf("version %d, %d: %v", version, i, err)
			}
			if d := Duration(got); d != 60*time.Millisecond {
				t.Errorf("version %d, %d: %s", version, i, d)
			}
			if b := Frame(version, uint32(60*i), want); !bytes.Equal(b, frametest.Unhex(t, s)) {
				t.Errorf("version %d, %d: written as %x", version, i, b)
			}
		}
	}
}

func TestBad(t *testing.T) {
	var v struct {
		WS []struct{ Name, Hex string }
	}
	frametest.Vectors(t, "bad.json", &v)
	want := map[string]error{
		"v2 size larger than the message": ErrSize, "v2 shorter than its header": ErrShort, "v2 size 0xffffffff": ErrSize,
		"v2 version 3": ErrVersion, "v2 type 1 is JSON": nil, "v3 size larger than the message": ErrSize, "v3 shorter than its header": ErrShort, "v1 empty": ErrShort,
	}
	for _, c := range v.WS {
		is, known := want[c.Name]
		version := int(c.Name[1] - '0')
		body, text, err := Parse(version, frametest.Unhex(t, c.Hex))
		if !known || !errors.Is(err, is) || is != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", c.Name, err)
		}
		if m, err := Read(body); is == nil && (!text || err != nil || m.Type != "ping") {
			t.Errorf("%s: %+v, %v", c.Name, m, err)
		}
	}
	if len(v.WS) != len(want) {
		t.Errorf("%d vectors", len(v.WS))
	}
	for _, bad := range []string{"", "{", "[]", `{"state":"start"}`, `{"session_id":"","type":"listen","state":"detect","text":"Hi "Jane""}`} {
		if _, err := Read([]byte(bad)); !errors.Is(err, ErrJSON) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, _, err := Parse(3, []byte{7, 0, 0, 1, 0}); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if _, _, err := Parse(1, make([]byte, MaxPacket+1)); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
}

func TestMessages(t *testing.T) {
	m, err := Read([]byte(`{"type":"hello","version":1,"features":{"mcp":true},"transport":"websocket","audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}`))
	if err != nil || m.Type != "hello" || m.Audio != (Audio{"opus", 16000, 1, 60}) {
		t.Errorf("%+v, %v", m, err)
	}
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.FixedZone("", 3600))
	got := string(Config(now, "bread-compact-wifi/2.0.0", "ws://house:8003/x", "key", nil))
	want := `{"firmware":{"url":"","version":"2.0.0"},"server_time":{"timestamp":1795334400000,"timezone_offset":60},"websocket":{"token":"key","url":"ws://house:8003/x","version":1}}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, agent := range []string{"", "x", "x/" + strings.Repeat("9", 99)} {
		if b := Config(now, agent, "u", "t", nil); !bytes.Contains(b, []byte(`"version":"0.0.0"`)) {
			t.Errorf("%s", b)
		}
	}
	if b := Hello("s"); !bytes.Contains(b, []byte(`"transport":"websocket"`)) {
		t.Errorf("%s", b)
	}
	for packet, want := range map[string]int{"": 0, "\x58": 60, "\x6b\x03": 60, "\x6b": 0, "\xf8": 20, "\xf9": 40, "\xb8": 20} {
		if got := Duration([]byte(packet)); got != time.Duration(want)*time.Millisecond {
			t.Errorf("%x: %s", packet, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	var v framing
	frametest.Vectors(f, "framing.json", &v)
	f.Add(1, frametest.Unhex(f, v.V1[0]))
	f.Add(2, frametest.Unhex(f, v.V2[0]))
	f.Add(3, frametest.Unhex(f, v.V3[0]))
	f.Fuzz(func(t *testing.T, version int, b []byte) {
		body, text, err := Parse(version, b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			return
		}
		if again, _, err := Parse(version, Frame(version, 0, body)); !text && (err != nil || !bytes.Equal(again, body)) {
			t.Errorf("%x, %v", again, err)
		}
		_ = Duration(body)
		_, _ = Read(body)
	})
}

// The devices' messages of the sessions can be read, and the answer at the OTA address is the one
// in the firmware's documents.
func TestSessions(t *testing.T) {
	type line struct {
		From string
		JSON json.RawMessage
	}
	var v struct {
		Websocket, MQTT []line
		OTA             struct {
			Request struct {
				Headers map[string]string
			}
			Response map[string]any `json:"response_websocket"`
		}
	}
	frametest.Vectors(t, "sessions.json", &v)
	seen := map[string]int{}
	for _, l := range append(v.Websocket, v.MQTT...) {
		if l.From != "device" || l.JSON == nil {
			continue
		}
		m, err := Read(l.JSON)
		if err != nil {
			t.Errorf("%s: %v", l.JSON, err)
		}
		seen[m.Type+" "+m.State]++
		if m.Type == "hello" && m.Audio != (Audio{"opus", 16000, 1, 60}) {
			t.Errorf("%s: %+v", l.JSON, m)
		}
	}
	for _, want := range []string{"hello ", "listen detect", "listen start", "listen stop", "abort ", "mcp ", "goodbye "} {
		if seen[want] == 0 {
			t.Errorf("no %q in %v", want, seen)
		}
	}
	at := v.OTA.Response["server_time"].(map[string]any)
	zone := time.FixedZone("", 60*int(at["timezone_offset"].(float64)))
	ws := v.OTA.Response["websocket"].(map[string]any)
	var got map[string]any
	b := Config(time.UnixMilli(int64(at["timestamp"].(float64))).In(zone), v.OTA.Request.Headers["User-Agent"], ws["url"].(string), ws["token"].(string), nil)
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, v.OTA.Response) {
		t.Errorf("%s, want %v", b, v.OTA.Response)
	}
}
