package wyoming

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// An event that comes in small pieces costs little more than one that comes at once. A peer of
// Assist decides how small the pieces are.
func TestThreatEventInPieces(t *testing.T) {
	e := Event{Type: "audio-chunk", Data: map[string]any{"text": strings.Repeat("x", 60<<10)}, Payload: bytes.Repeat([]byte("sound"), 50<<10)}
	line := `{"type":"audio-chunk","data":{"text":"` + e.Data["text"].(string) + `"},"payload_length":256000}` + "\n"
	stream := append([]byte(line), e.Payload...)
	var d Decoder
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got []Event
	for len(stream) > 0 {
		n := min(len(stream), 64)
		list, err := d.Push(stream[:n])
		if err != nil {
			t.Fatal(err)
		}
		got, stream = append(got, list...), stream[n:]
	}
	runtime.ReadMemStats(&after)
	if len(got) != 1 || got[0].Text("text") != e.Data["text"] || !bytes.Equal(got[0].Payload, e.Payload) {
		t.Fatalf("%d events", len(got))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d MiB were allocated for an event of %d KiB", n>>20, (len(line)+len(e.Payload))>>10)
	}
	if _, err := d.Push([]byte("{\"type\":\"ping\"}\n")); err != nil {
		t.Error(err)
	}
}
