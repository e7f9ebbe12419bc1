package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// A line that is not a message of JSON-RPC is answered with an error, and the messages around it
// are read.
func TestLinesThatAreNoMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct {
		name, line string
		code       int // 0: no answer
		id         any
		read       string // what is read between the two pings
	}{
		{name: "a message", line: `{"jsonrpc":"2.0","id":"x","method":"ping"}`, read: `{"jsonrpc":"2.0","id":"x","method":"ping"}`},
		{name: "space around a message", line: " \t{\"jsonrpc\":\"2.0\",\"method\":\"ping\"} \r", read: `{"jsonrpc":"2.0","method":"ping"}`},
		{name: "nothing", line: ""},
		{name: "only space", line: " \t\r"},
		{name: "no JSON", line: "Listening on port 80", code: -32700},
		{name: "half a message", line: `{"jsonrpc":"2.0","id":1,`, code: -32700},
		{name: "two messages", line: ping + ping, code: -32700},
		{name: "no UTF-8", line: "\xff\xfe", code: -32700},
		{name: "null", line: "null", code: -32600},
		{name: "a number", line: "5", code: -32600},
		{name: "an empty batch", line: "[]", code: -32600},
		{name: "a batch", line: "[" + ping + "]", code: -32600},
		{name: "another version", line: `{"jsonrpc":"1.0","id":4,"method":"ping"}`, code: -32600, id: 4.0},
		{name: "no method", line: `{"id":"x"}`, code: -32600, id: "x"},
		{name: "an id with a fraction", line: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, code: -32600, id: 1.5},
		{name: "the longest", line: `{"jsonrpc":"2.0","method":"` + strings.Repeat("a", serve.MaxBody-29) + `"}`, read: `{"jsonrpc":"2.0","method":"` + strings.Repeat("a", serve.MaxBody-29) + `"}`},
		{name: "too long", line: `{"jsonrpc":"2.0","method":"` + strings.Repeat("a", serve.MaxBody) + `"}`, code: -32000},
		{name: "much too long", line: strings.Repeat("a", 5*serve.MaxBody), code: -32000},
	} {
		var answers bytes.Buffer
		in := io.NopCloser(strings.NewReader(ping + "\n" + c.line + "\n" + ping))
		got, err := io.ReadAll(newLineReader(in, &answers))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		want := ping + "\n" + c.read + "\n" + ping + "\n"
		if c.read == "" {
			want = ping + "\n" + ping + "\n"
		}
		if string(got) != want {
			t.Errorf("%s: read %.200q, want %.200q", c.name, got, want)
		}
		var answer struct {
			ID    any
			Error struct {
				Code    int
				Message string
			}
		}
		if c.code == 0 {
			if answers.Len() > 0 {
				t.Errorf("%s: answered %s", c.name, answers.Bytes())
			}
			continue
		}
		if err := json.Unmarshal(answers.Bytes(), &answer); err != nil || answer.Error.Code != c.code || answer.ID != c.id || answer.Error.Message == "" {
			t.Errorf("%s: answered %s, %v; want code %d and id %v", c.name, answers.Bytes(), err, c.code, c.id)
		}
		if strings.Count(answers.String(), "\n") != 1 || strings.Contains(answers.String(), strings.Repeat("a", 100)) {
			t.Errorf("%s: the answer is not one short line: %.200q", c.name, answers.Bytes())
		}
	}
}

// The SDK's connection goes on after such a line.
func TestConnectionGoesOn(t *testing.T) {
	r, w := io.Pipe()
	var answers bytes.Buffer
	c, err := overLines(r, nopWriteCloser{&answers}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(w, "npm warn deprecated\n"+`{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n")
		_ = w.Close()
	}()
	if m, err := c.Read(t.Context()); err != nil {
		t.Fatalf("%v, %v", m, err)
	}
	if m, err := c.Read(t.Context()); err != io.EOF {
		t.Errorf("at the end: %v, %v", m, err)
	}
	if !strings.Contains(answers.String(), `"code":-32700`) {
		t.Errorf("answered %q", answers.String())
	}
}
