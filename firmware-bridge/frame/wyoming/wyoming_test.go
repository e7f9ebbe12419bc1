package wyoming

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

// The reference's events in one stream, which is cut anywhere, and each event encoded again.
func TestEvents(t *testing.T) {
	var v struct {
		Events []struct {
			Label, Type    string
			Offset, Length int
			Data           map[string]any
			Payload        string `json:"payload_hex"`
		}
	}
	frametest.Vectors(t, "events.json", &v)
	stream, err := os.ReadFile("testdata/events.bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int{1, 7, 1000, len(stream)} {
		var d Decoder
		var got []Event
		for at := 0; at < len(stream); at += step {
			list, err := d.Push(stream[at:min(at+step, len(stream))])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, list...)
		}
		if len(got) != len(v.Events) || len(d.buf) != 0 {
			t.Fatalf("%d events of %d, %d bytes left", len(got), len(v.Events), len(d.buf))
		}
		for i, w := range v.Events {
			if got[i].Type != w.Type || !reflect.DeepEqual(got[i].Data, w.Data) || !bytes.Equal(got[i].Payload, frametest.Unhex(t, w.Payload)) {
				t.Errorf("%s: %+v", w.Label, got[i])
			}
			b, err := Append(nil, got[i])
			if err != nil || len(b) > w.Length { // the reference writes spaces into its JSON
				t.Errorf("%s: %v, %d bytes, want up to %d", w.Label, err, len(b), w.Length)
			}
			again, n, err := parse(b)
			if err != nil || n != len(b) || !reflect.DeepEqual(again, got[i]) {
				t.Errorf("%s: %+v, %v", w.Label, again, err)
			}
		}
	}
}

func TestReaderCases(t *testing.T) {
	var v struct {
		Cases []struct {
			Label, Hex string
			Expect     json.RawMessage
		}
	}
	frametest.Vectors(t, "reader-cases.json", &v)
	bad := map[string]error{"not json: reader gives nothing": ErrJSON, "type missing: the reference reader raises KeyError": ErrType}
	for _, c := range v.Cases {
		var d Decoder
		got, err := d.Push(frametest.Unhex(t, c.Hex))
		var want struct {
			Type    string
			Data    map[string]any
			Payload string
		}
		if json.Unmarshal(c.Expect, &want) != nil || string(c.Expect) == "null" {
			if len(got) != 0 || !errors.Is(err, bad[c.Label]) || bad[c.Label] == nil && len(d.buf) == 0 {
				t.Errorf("%s: %+v, %v, %d left", c.Label, got, err, len(d.buf))
			}
			continue
		}
		if err != nil || len(got) != 1 || got[0].Type != want.Type || !reflect.DeepEqual(got[0].Data, want.Data) || !bytes.Equal(got[0].Payload, frametest.Unhex(t, want.Payload)) {
			t.Errorf("%s: %+v, %v", c.Label, got, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, b := range [][]byte{
		bytes.Repeat([]byte("x"), maxLine+1), []byte(`{"type":"x","data_length":99999999}` + "\n"),
		[]byte(`{"type":"x","payload_length":-1}` + "\n"), []byte(`{"type":"x","payload_length":5000000}` + "\n"),
	} {
		var d Decoder
		if _, err := d.Push(b); !errors.Is(err, ErrSize) || !errors.Is(err, ErrFormat) {
			t.Errorf("%.40s: %v", b, err)
		}
		if _, err := d.Push([]byte(`{"type":"ping"}` + "\n")); err == nil {
			t.Error("the decoder went on reading after an event that was too large")
		}
	}
}

func TestSound(t *testing.T) {
	chunk := func(rate, width, channels any, payload []byte) *Event {
		return &Event{Type: "audio-chunk", Data: map[string]any{"rate": rate, "width": width, "channels": channels}, Payload: payload}
	}
	if pcm, rate, err := chunk(16000., 2., 1., []byte{1, 2, 3, 4}).Sound(); err != nil || rate != 16000 || !bytes.Equal(pcm, []byte{1, 2, 3, 4}) {
		t.Error(pcm, rate, err)
	}
	if pcm, _, err := chunk(48000., 2., 2., []byte{100, 0, 200, 0, 0xff, 0xff, 0xfd, 0xff}).Sound(); err != nil || !bytes.Equal(pcm, []byte{150, 0, 0xfe, 0xff}) {
		t.Error(pcm, err)
	}
	for _, e := range []*Event{chunk(0., 2., 1., nil), chunk(16000., 3., 1., nil), chunk(16000., 2., 0., nil), chunk("16000", 2., 1., nil), chunk(16000.5, 2., 1., nil),
		chunk(nil, nil, nil, nil), chunk(16000., 2., 1., []byte{1}), chunk(16000., 2., 2., []byte{1, 2})} {
		if _, _, err := e.Sound(); !errors.Is(err, ErrSound) {
			t.Errorf("%v: %v", e.Data, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	stream, err := os.ReadFile("testdata/events.bin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stream, 5)
	f.Add([]byte(`{"type":"ping","data_length":2}`+"\n{}"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var whole, parts Decoder
		want, err := whole.Push(b)
		cut = min(max(cut, 0), len(b))
		got, err1 := parts.Push(b[:cut])
		more, err2 := parts.Push(b[cut:])
		if got = append(got, more...); len(got) != len(want) || (err == nil) != (err1 == nil && err2 == nil) {
			t.Errorf("%d events whole, %d in parts; %v, %v, %v", len(want), len(got), err, err1, err2)
		}
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
		for _, e := range want {
			_, _, _ = e.Sound()
		}
	})
}
