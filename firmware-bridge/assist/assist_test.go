package assist

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// client speaks Wyoming as the reference's AsyncTcpClient does, and shares no code with the server:
// it writes the data after the line, and reads what the reference's reader reads.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

type event struct {
	Type string
	Data map[string]any
}

// dial connects from a loopback address.
func dial(t *testing.T, from, to string) *client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn, bufio.NewReader(conn)}
}

func written(kind string, data any) string {
	line := map[string]any{"type": kind, "version": "1.10.2"}
	var more []byte
	if data != nil {
		more, _ = json.Marshal(data)
		line["data_length"] = len(more)
	}
	b, _ := json.Marshal(line)
	return string(b) + "\n" + string(more)
}

func (c *client) write(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, s); err != nil {
		c.t.Fatal(err)
	}
}

// read returns io.EOF, or another error of the connection, once the server has gone.
func (c *client) read() (e event, err error) {
	c.t.Helper()
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return e, err
	}
	var h struct {
		Type    *string
		Data    map[string]any
		More    int `json:"data_length"`
		Payload int `json:"payload_length"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Type == nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	e = event{*h.Type, h.Data}
	more := make([]byte, h.More+h.Payload)
	if _, err := io.ReadFull(c.in, more); err != nil {
		return e, err
	}
	if h.More > 0 {
		if err := json.Unmarshal(more[:h.More], &e.Data); err != nil {
			c.t.Fatalf("%s: %v", more, err)
		}
	}
	return e, nil
}

// ask writes an event and returns its answer.
func (c *client) ask(kind string, data any) event {
	c.t.Helper()
	c.write(written(kind, data))
	e, err := c.read()
	if err != nil {
		c.t.Fatalf("%s: %v", kind, err)
	}
	return e
}

// memory knows one thing.
func memory(_ context.Context, question string) (Answer, error) {
	switch {
	case strings.Contains(question, "dentist"), strings.Contains(question, "牙医"):
		return Answer{"On Tuesday.", true}, nil
	case question == "broken":
		return Answer{}, errors.New("the node is locked")
	}
	return Answer{Text: "Ann likes tea."}, nil // the nearest memory there is
}

type told struct {
	mu   sync.Mutex
	list []string
}

func (l *told) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

func (l *told) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// served starts a server and returns its address.
func served(t *testing.T, c Config) (address string, notes *told) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	notes = &told{}
	c.OnMessage = notes.add
	if c.Ask == nil {
		c.Ask = memory
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), notes
}

func TestAnswers(t *testing.T) {
	address, notes := served(t, Config{})
	asked := []any{map[string]any{"name": "question", "value": "when is the dentist"}}
	for _, c := range []struct {
		kind string
		data map[string]any
		want string
		text string
	}{
		{"transcript", map[string]any{"text": "when is the dentist?", "language": "en", "context": map[string]any{"conversation_id": "x"}}, "handled", "On Tuesday."},
		{"transcript", map[string]any{"text": "who is Bob?"}, "not-handled", "I don't know."},
		{"transcript", map[string]any{"text": "谁是小雨?", "language": "zh-Hans"}, "not-handled", "我不知道。"},
		{"transcript", map[string]any{"text": " "}, "not-handled", "I heard no question."},
		{"transcript", map[string]any{"text": strings.Repeat("long ", 500)}, "not-handled", "That question is too long."},
		{"transcript", map[string]any{"text": "broken"}, "not-handled", "I can't look into the memory now."},
		{"recognize", map[string]any{"text": "when is the dentist"}, "intent", "On Tuesday."},
		{"recognize", map[string]any{"text": "who is Bob"}, "not-recognized", "I don't know."},
		{"intent", map[string]any{"name": "LocketAsk", "entities": asked}, "handled", "On Tuesday."},
		{"intent", map[string]any{"name": "LocketAsk"}, "not-handled", "I heard no question."},
		{"intent", map[string]any{"name": "HassTurnOn", "entities": asked}, "not-handled", "That is not for the memory."},
		{"ping", map[string]any{"text": "7"}, "pong", "7"},
	} {
		one := dial(t, "127.0.0.1", address)
		got := one.ask(c.kind, c.data)
		if got.Type != c.want || got.Data["text"] != c.text {
			t.Errorf("%s %.60v: %+v", c.kind, c.data, got)
		}
		if got.Type == "intent" && (got.Data["name"] != "LocketAsk" || fmt.Sprint(got.Data["entities"]) != fmt.Sprint(asked)) {
			t.Errorf("%+v", got.Data)
		}
		// The same with the data inside the line, as older clients write it.
		b, err := json.Marshal(map[string]any{"type": c.kind, "data": c.data})
		if err != nil {
			t.Fatal(err)
		}
		one.write(string(b) + "\n")
		if again, err := one.read(); err != nil || again.Type != c.want || again.Data["text"] != c.text {
			t.Errorf("%s in the line: %+v, %v", c.kind, again, err)
		}
		one.conn.Close()
	}
	if all := notes.all(); len(all) != 2 || !strings.Contains(all[0], "the node is locked") {
		t.Errorf("told %q", all)
	}
}

// Info has everything without which the reference's classes cannot be built (wyoming/info.py).
func TestInfo(t *testing.T) {
	artifact := func(v any) map[string]any {
		t.Helper()
		m, _ := v.(map[string]any)
		by, _ := m["attribution"].(map[string]any)
		for _, text := range []any{m["name"], m["description"], m["version"], by["name"], by["url"]} {
			if s, ok := text.(string); !ok || s == "" {
				t.Errorf("%+v", v)
			}
		}
		if m["installed"] != true {
			t.Errorf("%+v", v)
		}
		return m
	}
	for _, intent := range []bool{false, true} {
		address, _ := served(t, Config{Intent: intent, Version: "v1"})
		info := dial(t, "127.0.0.1", address).ask("describe", nil)
		if info.Type != "info" {
			t.Fatalf("%+v", info)
		}
		for kind, n := range map[string]int{"asr": 0, "tts": 0, "wake": 0, "mic": 0, "snd": 0, "handle": 1, "intent": map[bool]int{true: 1}[intent]} {
			list, ok := info.Data[kind].([]any)
			if !ok || len(list) != n {
				t.Errorf("%s: %+v", kind, info.Data[kind])
			}
			for _, p := range list {
				models, _ := artifact(p)["models"].([]any)
				if len(models) != 1 || fmt.Sprint(artifact(models[0])["languages"]) != "[en zh]" {
					t.Errorf("%+v", models)
				}
			}
		}
	}
}

// Bytes that are not an event get an error that says why, and the connection ends, because what follows
// can't be read. An event that lacks something only fails itself.
func TestBadFrames(t *testing.T) {
	address, _ := served(t, Config{})
	for _, c := range []struct{ label, bytes, says string }{
		{"no JSON", "nonsense\n", "not a JSON object"},
		{"a browser's request", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{\"type\":\"describe\"}\n", "not a JSON object"},
		{"a list", "[1]\n", "not a JSON object"},
		{"no type", `{"data":{"text":"x"}}` + "\n", "without a type"},
		{"a number for a type", `{"type":7}` + "\n", "not a JSON object"},
		{"data that is no object", `{"type":"transcript","data":"x"}` + "\n", "not a JSON object"},
		{"more that is no object", `{"type":"transcript","data_length":3}` + "\n[1]", "not a JSON object"},
		{"less than nothing", `{"type":"transcript","data_length":-1}` + "\n", "too large"},
		{"a length of 2^62", `{"type":"transcript","data_length":4611686018427387904}` + "\n", "too large"},
		{"a large payload", `{"type":"transcript","payload_length":99999999}` + "\n", "too large"},
		{"a line without an end", strings.Repeat("x", 70<<10), "too large"},
		{"deep JSON", `{"type":"transcript","data":{"text":` + strings.Repeat("[", 20000) + "\n", "not a JSON object"},
	} {
		one := dial(t, "127.0.0.1", address)
		_, _ = io.WriteString(one.conn, c.bytes) // the server may hang up before it has all
		e, err := one.read()
		if err != nil || e.Type != "error" || e.Data["code"] != "bad-event" || !strings.Contains(fmt.Sprint(e.Data["text"]), c.says) {
			t.Errorf("%s: %+v, %v", c.label, e, err)
		}
		if e, err := one.read(); err == nil {
			t.Errorf("%s: it went on: %+v", c.label, e)
		}
		one.conn.Close()
	}
	one := dial(t, "127.0.0.1", address)
	for _, text := range []any{nil, 7, []any{"x"}, map[string]any{}, true} {
		for _, kind := range []string{"transcript", "recognize"} {
			if e := one.ask(kind, map[string]any{"text": text}); e.Type != "error" || e.Data["text"] != kind+": text: want a string" {
				t.Errorf("%s %v: %+v", kind, text, e)
			}
		}
	}
	for _, entities := range []any{7, []any{7}, []any{map[string]any{"name": "question", "value": 7}}, []any{map[string]any{"name": 7}}} {
		if e := one.ask("intent", map[string]any{"name": "LocketAsk", "entities": entities}); e.Type != "not-handled" {
			t.Errorf("%v: %+v", entities, e)
		}
	}
	one.write(written("audio-start", map[string]any{"rate": 16000}) + written("synthesize", nil)) // events of other services
	if e := one.ask("transcript", map[string]any{"text": "when is the dentist"}); e.Type != "handled" {
		t.Errorf("%+v", e)
	}
	whole := written("transcript", map[string]any{"text": "when is the dentist"})
	for n := range len(whole) {
		cut := dial(t, "127.0.0.1", address)
		cut.write(whole[:n])
		if err := cut.conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if e, err := cut.read(); !errors.Is(err, io.EOF) {
			t.Fatalf("cut at %d: %+v, %v", n, e, err)
		}
		cut.conn.Close()
	}
}

// A stranger gets no byte. A peer exhausts its own share, and nobody else's.
func TestThreatAssistDoor(t *testing.T) {
	peers, err := clientaddr.ParseProxies([]string{"127.0.0.2", "127.0.0.3"})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := time.Date(2026, 11, 23, 9, 0, 1, 0, time.UTC)
	address, notes := served(t, Config{Peers: peers, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	for range toldStrangers + 2 {
		c := dial(t, "127.0.0.1", address)
		_, _ = io.WriteString(c.conn, written("describe", nil)) // it may be gone already
		if e, err := c.read(); err == nil {
			t.Fatalf("a stranger was answered %+v", e)
		}
	}
	if all := notes.all(); len(all) != toldStrangers || !strings.HasPrefix(all[0], "127.0.0.1 ") {
		t.Errorf("told %q", all)
	}
	question := map[string]any{"text": "when is the dentist"}
	one, two := dial(t, "127.0.0.2", address), dial(t, "127.0.0.3", address)
	for n := range perMinute {
		if e := one.ask("transcript", question); e.Type != "handled" {
			t.Fatalf("question %d: %+v", n+1, e)
		}
	}
	for _, c := range []*client{one, dial(t, "127.0.0.2", address)} {
		if e := c.ask("transcript", question); e.Type != "not-handled" || !strings.Contains(fmt.Sprint(e.Data["text"]), "too many questions") {
			t.Errorf("%+v", e)
		}
	}
	if e := two.ask("transcript", question); e.Type != "handled" {
		t.Errorf("another peer: %+v", e)
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	if e := one.ask("transcript", question); e.Type != "handled" {
		t.Errorf("a minute later: %+v", e)
	}
	for range perPeer - 2 {
		dial(t, "127.0.0.2", address).ask("ping", nil)
	}
	more := dial(t, "127.0.0.2", address)
	_, _ = io.WriteString(more.conn, written("ping", nil)) // it may be gone already
	if e, err := more.read(); err == nil {
		t.Errorf("connection %d: %+v", perPeer+1, e)
	}
	if e := dial(t, "127.0.0.3", address).ask("transcript", question); e.Type != "handled" {
		t.Errorf("another peer: %+v", e)
	}
}

// Without a list of peers, programs on this machine may ask.
func TestAllowedPeers(t *testing.T) {
	for text, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "192.168.1.5:1": false, "[fe80::1%eth0]:1": false, "pipe": false} {
		if got := (&Config{}).allows(clientaddr.Parse(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Every event that can be read from a stream is answered by an event that can be written.
func FuzzAnswer(f *testing.F) {
	for _, kind := range []string{"describe", "transcript", "recognize", "intent", "ping"} {
		f.Add([]byte(written(kind, map[string]any{"text": "x", "name": "LocketAsk", "entities": []any{map[string]any{"name": "question", "value": "x"}}})))
	}
	f.Add([]byte(`{"type":"intent","data":{"name":"LocketAsk","entities":[null,7,{"name":"question","value":{}}]}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &server{Config: Config{Ask: memory, Now: time.Now, OnMessage: func(string) {}}, asked: map[netip.Addr]int{}}
		var d frame.Decoder
		list, _ := d.Push(b)
		for i := range list {
			out := s.answer(t.Context(), &list[i], netip.Addr{})
			if out == nil {
				continue
			}
			if _, err := frame.Append(nil, *out); err != nil {
				t.Errorf("%+v: %v", out, err)
			}
			if !slices.Contains([]string{"info", "pong", "error", "handled", "not-handled", "intent", "not-recognized"}, out.Type) {
				t.Errorf("%+v", out)
			}
			if text, ok := out.Data["text"].(string); out.Type != "info" && out.Type != "pong" && (!ok || text == "") {
				t.Errorf("%+v says nothing", out)
			}
		}
	})
}
