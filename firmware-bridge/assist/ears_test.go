package assist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/speechtest"
)

// chunk writes a piece of sound as the reference does.
func (c *client) chunk(sound []byte) {
	c.t.Helper()
	data, _ := json.Marshal(map[string]any{"rate": 16000, "width": 2, "channels": 1})
	c.write(fmt.Sprintf(`{"type":"audio-chunk","version":"1.10.2","data_length":%d,"payload_length":%d}`+"\n%s%s", len(data), len(sound), data, sound))
}

// utter says something, and returns the events that come back, up to last.
func (c *client) utter(sound []byte, last string) (kinds []string, text string) {
	c.t.Helper()
	c.write(written("transcribe", map[string]any{"language": "en"}))
	c.write(written("audio-start", map[string]any{"rate": 16000, "width": 2, "channels": 1}))
	for part := range len(sound) / 2048 {
		c.chunk(sound[part*2048 : (part+1)*2048])
	}
	c.write(written("audio-stop", nil))
	for {
		e, err := c.read()
		if err != nil {
			c.t.Fatal(err)
		}
		if kinds = append(kinds, e.Type); e.Type == "transcript" || e.Type == "error" {
			text, _ = e.Data["text"].(string)
		}
		if e.Type == last || e.Type == "error" {
			return kinds, text
		}
	}
}

// programs asks until there are some, because the engine is asked in the background.
func (c *client) programs() (asr []any) {
	c.t.Helper()
	for len(asr) == 0 {
		asr, _ = c.ask("describe", nil).Data["asr"].([]any)
	}
	return asr
}

// A peer that asks for info does not wait for an engine. However many ask, the engine is asked
// once.
func TestEnginesAreAskedOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	address, notes := served(t, Config{Ears: l.Addr().String()})
	c := dial(t, "127.0.0.1", address)
	for range 3 { // the engine answers none of them
		if asr, ok := c.ask("describe", nil).Data["asr"].([]any); !ok || len(asr) > 0 {
			t.Errorf("%v", asr)
		}
	}
	engine, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Write([]byte(written("info", map[string]any{"asr": []any{map[string]any{"name": "late"}}}))); err != nil {
		t.Fatal(err)
	}
	if asr := c.programs(); fmt.Sprint(asr) != "[map[name:late]]" || len(notes.all()) > 0 {
		t.Errorf("%v, %q", asr, notes.all())
	}
	engine.Close()

	// The lack of an answer is cached, too.
	now := time.Unix(1_800_000_000, 0)
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	told := make(chan string, 100)
	l.Close()
	s := &server{Config: Config{Ears: l.Addr().String(), Now: clock, OnMessage: func(text string) { told <- text }}}
	for range 3 {
		s.programs(t.Context())
		s.work.Wait()
	}
	if len(told) != 1 {
		t.Errorf("told %d times", len(told))
	}
	mu.Lock()
	now = now.Add(infoKept)
	mu.Unlock()
	s.programs(t.Context())
	s.work.Wait()
	if len(told) != 2 {
		t.Errorf("told %d times", len(told))
	}
}

// Speech passes to the engine unchanged, its words come back, and the same connection then asks the
// memory.
func TestEars(t *testing.T) {
	engine := speechtest.Wyoming(t)
	engine.Says(func([]byte) string { return "when is the dentist" }, nil)
	address, notes := served(t, Config{Ears: strings.TrimPrefix(engine.Address, "tcp://")})
	c := dial(t, "127.0.0.1", address)
	asr := c.programs()
	if len(asr) != 1 || asr[0].(map[string]any)["name"] != "faster-whisper" {
		t.Errorf("%v", asr)
	}
	sound := bytes.Repeat([]byte{1, 2, 3, 4}, 16*1024)
	for range 2 {
		kinds, text := c.utter(sound, "transcript")
		if fmt.Sprint(kinds) != "[transcript]" || text != "when is the dentist" {
			t.Fatalf("%v %q", kinds, text)
		}
		if e := c.ask("transcript", map[string]any{"text": text}); e.Type != "handled" || e.Data["text"] != "On Tuesday." {
			t.Errorf("%+v", e)
		}
	}
	engine.Says(func([]byte) string { return "one two" }, func([]byte) string { return "one " })
	if kinds, text := c.utter(sound, "transcript-stop"); fmt.Sprint(kinds) != "[transcript-start transcript-chunk transcript transcript-stop]" || text != "one two" {
		t.Errorf("one that streams: %v %q", kinds, text)
	}
	for i, call := range engine.Calls() {
		if !bytes.Equal(call.Sound, sound) || !call.Stopped || call.Wrong != "" {
			t.Errorf("%d: %d bytes, %+v", i, len(call.Sound), call.Wrong)
		}
	}
	if got := notes.all(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// An engine that is away, hangs up or babbles is reported as an error, and the connection can be
// used again. Sound that was not begun, and too many utterances, are refused.
func TestEngineFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := l.Addr().String()
	l.Close()
	address, notes := served(t, Config{Ears: away})
	c := dial(t, "127.0.0.1", address)
	if asr, ok := c.ask("describe", nil).Data["asr"].([]any); !ok || len(asr) > 0 {
		t.Errorf("%v", asr)
	}
	if kinds, text := c.utter(make([]byte, 4096), "transcript"); fmt.Sprint(kinds) != "[error]" || !strings.Contains(text, "does not answer") {
		t.Errorf("%v %q", kinds, text)
	}
	if e := c.ask("transcript", map[string]any{"text": "when is the dentist"}); e.Type != "handled" {
		t.Errorf("%+v", e)
	}
	if len(notes.all()) == 0 {
		t.Error("nobody is told")
	}

	engine := speechtest.Wyoming(t)
	address, _ = served(t, Config{Ears: strings.TrimPrefix(engine.Address, "tcp://")})
	c = dial(t, "127.0.0.1", address)
	c.write(written("audio-stop", nil))
	if e, err := c.read(); err != nil || e.Type != "error" || !strings.Contains(fmt.Sprint(e.Data["text"]), "no audio-start") {
		t.Errorf("%+v, %v", e, err)
	}
	c.write(written("audio-start", map[string]any{"rate": 8000, "width": 2, "channels": 1}))
	data, _ := json.Marshal(map[string]any{"rate": 8000, "width": 2, "channels": 1})
	c.write(fmt.Sprintf(`{"type":"audio-chunk","data_length":%d,"payload_length":2}`+"\n%sxx", len(data), data)) // here the engine hangs up
	c.write(written("audio-stop", nil))
	if e, err := c.read(); err != nil || e.Type != "error" {
		t.Errorf("%+v, %v", e, err)
	}
	var last []string
	var why string
	for range perMinute {
		if last, why = c.utter(make([]byte, 4096), "transcript"); last[0] == "error" {
			break
		}
	}
	if fmt.Sprint(last) != "[error]" || !strings.Contains(why, "too many") {
		t.Errorf("%v %q", last, why)
	}
	if e := c.ask("transcript", map[string]any{"text": "when is the dentist"}); e.Type != "handled" { // the allowance of questions is still full
		t.Errorf("%+v", e)
	}

	address, _ = served(t, Config{})
	c = dial(t, "127.0.0.1", address)
	c.write(written("audio-start", map[string]any{"rate": 16000, "width": 2, "channels": 1}))
	if e := c.ask("ping", map[string]any{"text": "x"}); e.Type != "pong" { // without an engine, sound is ignored
		t.Errorf("%+v", e)
	}
}
