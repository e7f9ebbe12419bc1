package speech

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// heardWyoming is what a server received.
type heardWyoming struct {
	types []string
	data  map[string]map[string]any
	sound []byte
	err   error
}

// serveWyoming accepts one connection, reads events until audio-stop (or none, if deaf), writes the
// answer and closes.
func serveWyoming(t *testing.T, l net.Listener, deaf bool, answer string) <-chan heardWyoming {
	t.Helper()
	got := make(chan heardWyoming, 1)
	go func() {
		h := heardWyoming{data: map[string]map[string]any{}}
		defer func() { got <- h }()
		conn, err := l.Accept()
		if err != nil {
			h.err = err
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for !deaf {
			line, err := in.ReadBytes('\n')
			if err != nil {
				h.err = err
				return
			}
			var ev struct {
				Type          string
				Data          map[string]any
				DataLength    int `json:"data_length"`
				PayloadLength int `json:"payload_length"`
			}
			if err := json.Unmarshal(line, &ev); err != nil {
				h.err = err
				return
			}
			payload := make([]byte, ev.DataLength+ev.PayloadLength)
			if _, err := io.ReadFull(in, payload); err != nil {
				h.err = err
				return
			}
			if n := len(h.types); n == 0 || h.types[n-1] != ev.Type {
				h.types = append(h.types, ev.Type)
			}
			h.data[ev.Type] = ev.Data
			h.sound = append(h.sound, payload...)
			if ev.Type == "audio-stop" {
				break
			}
		}
		io.WriteString(conn, answer)
	}()
	return got
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Framed like wyoming's Event.write_event: data after the line.
func framed(kind, data string, payload string) string {
	return fmt.Sprintf(`{"type": %q, "version": "1.7.1", "data_length": %d, "payload_length": %d}`+"\n%s%s", kind, len(data), len(payload), data, payload)
}

func TestWyoming(t *testing.T) {
	wav := audio.Speech()
	sound, err := pcm("", wav)
	if err != nil {
		t.Fatal(err)
	}
	unix := filepath.Join(t.TempDir(), "asr.sock")
	for _, c := range []struct{ name, network, address, answer string }{
		{"new form", "tcp", "127.0.0.1:0", framed("info", `{"asr":[]}`, "payload") + framed("transcript", `{"text": "And so", "language": "en"}`, "")},
		{"old form", "unix", unix, `{"type":"transcript","data":{"text":"And so","language":"en"}}` + "\n"},
		{"both", "tcp", "127.0.0.1:0", `{"type":"transcript","data":{"text":"no","language":"en"},"data_length":18}` + "\n" + `{"text": "And so"}`},
		{"streamed", "tcp", "127.0.0.1:0", framed("transcript-start", `{}`, "") + framed("transcript-chunk", `{"text":"And "}`, "") +
			framed("transcript", `{"text":"And so","language":"english"}`, "") + framed("transcript-stop", `{}`, "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := listen(t, c.network, c.address)
			seen := serveWyoming(t, l, false, c.answer)
			w := &Wyoming{Address: l.Addr().String(), Model: "tiny"}
			got, err := w.Transcribe(t.Context(), wav, Hints{Lang: "en-GB"})
			if err != nil || got.Text != "And so" || got.Lang != "en" {
				t.Fatalf("%+v, %v", got, err)
			}
			h := <-seen
			if h.err != nil || fmt.Sprint(h.types) != "[transcribe audio-start audio-chunk audio-stop]" || !bytes.Equal(h.sound, sound) {
				t.Errorf("%v, %d bytes of sound, %v", h.types, len(h.sound), h.err)
			}
			if h.data["transcribe"]["language"] != "en" || h.data["transcribe"]["name"] != "tiny" || h.data["audio-start"]["rate"] != 16000.0 ||
				h.data["audio-start"]["width"] != 2.0 || h.data["audio-stop"]["timestamp"] != 11000.0 {
				t.Errorf("%v", h.data)
			}
		})
	}
}

func TestWyomingFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		kind   engine.Kind
		words  string
	}{
		"hangs up":       {"", engine.Gone, ""},
		"cut off":        {framed("transcript", `{"text": "And so"}`, "")[:70], engine.Gone, ""},
		"reports":        {framed("error", `{"text":"no model","code":"asr"}`, ""), engine.Crashed, "asr no model"},
		"not JSON":       {"HTTP/1.1 400 Bad Request\r\n\r\n", engine.Babbled, "not a line of JSON"},
		"endless line":   {string(bytes.Repeat([]byte("a"), maxWyomingLine+1)), engine.Babbled, "a line of more than"},
		"great sizes":    {`{"type":"x","payload_length":9007199254740993}` + "\n", engine.Babbled, "of payload"},
		"negative sizes": {`{"type":"x","data_length":-1}` + "\n", engine.Babbled, "-1 bytes"},
		"no text":        {framed("transcript", `{}`, ""), engine.Babbled, "without text"},
		"no object":      {framed("transcript", `[]`, ""), engine.Babbled, "data of transcript"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, "tcp", "127.0.0.1:0")
			serveWyoming(t, l, false, c.answer)
			_, err := (&Wyoming{Address: l.Addr().String()}).Transcribe(t.Context(), audio.Speech(), Hints{})
			fault(t, err, c.kind, c.words)
		})
	}
	t.Run("never reads", func(t *testing.T) {
		l := listen(t, "tcp", "127.0.0.1:0") // accepts the connection, and never answers
		_, err := (&Wyoming{Address: l.Addr().String(), Timeout: 50 * time.Millisecond}).Transcribe(t.Context(), audio.Speech(), Hints{})
		fault(t, err, engine.Slow, "no transcript within 50ms")
	})
	t.Run("nobody there", func(t *testing.T) {
		_, err := (&Wyoming{Address: "127.0.0.1:1"}).Transcribe(t.Context(), audio.Speech(), Hints{})
		fault(t, err, engine.Gone, "nothing listens at 127.0.0.1:1")
	})
}

// Sound is sent as it comes, and the server reports the words so far. The client refuses an answer
// that came too early. If it gives up an utterance, the server does not take it for complete.
func TestWyomingListens(t *testing.T) {
	s := speechtest.Wyoming(t)
	s.Says(func([]byte) string { return "ask not what" }, func(sound []byte) string { return "ask not what"[:4*min(3, len(sound)/32000)] })
	w := &Wyoming{Address: strings.TrimPrefix(s.Address, "tcp://")}
	second := make([]byte, 32000)
	var told []string
	next := make(chan string)
	got, err := w.Listen(t.Context(), func(yield func([]byte) bool) {
		for range 3 {
			if !yield(second) {
				return
			}
			told = append(told, <-next)
		}
	}, Hints{}, func(text string) { next <- text })
	if err != nil || got.Text != "ask not what" || fmt.Sprintf("%q", told) != `["ask" "ask not" "ask not what"]` {
		t.Errorf("%+v, %q, %v", got, told, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = w.Listen(ctx, func(yield func([]byte) bool) { yield(second); <-ctx.Done() }, Hints{}, func(string) { cancel() })
	if calls := s.Calls(); !errors.Is(err, context.Canceled) || len(calls) != 2 || !calls[0].Stopped || calls[1].Stopped {
		t.Errorf("%d calls, %v", len(calls), err)
	}

	l := listen(t, "tcp", "127.0.0.1:0")
	serveWyoming(t, l, true, framed("transcript", `{"text": "And so"}`, ""))
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = (&Wyoming{Address: l.Addr().String()}).Listen(ctx, func(yield func([]byte) bool) {
		for yield(second) {
		}
	}, Hints{}, nil)
	fault(t, err, engine.Babbled, "before the sound had ended")
}
