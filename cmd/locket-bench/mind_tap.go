package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory/judge"
)

// tap stands between a node and a model's server, passes each request on unchanged, and notes what
// the server did.
type tap struct {
	URL    string // in place of the server's
	to     *url.URL
	srv    *http.Server
	done   chan error
	onCall func(part string, n int, took time.Duration)

	mu    sync.Mutex
	part  string // what requests are for now
	calls []tapped
}

// tapped is one request and what the server did with it.
type tapped struct {
	Part               string
	Took               time.Duration
	Status             int    // of HTTP; 0: there was no answer
	JSON               bool   // an object of a schema was asked for
	Format             string // schema, object, text: how it was asked for
	Fault              fault
	Message            string // the server's, of an error
	Prompt, Completion int    // tokens, as the server counts them
	Operations         []judge.Operation
}

// fault is what is wrong with an answer; empty: nothing.
type fault string

// The faults. Each is counted at the server, so one that a second request mends counts, too.
const (
	refuses     fault = "refusal"
	cutOff      fault = "cut off at the limit of tokens"
	onlyThinks  fault = "thoughts without an end"
	callsTool   fault = "call of a tool in place of text"
	inThoughts  fault = "JSON among the thoughts"
	noText      fault = "no text"
	notJSON     fault = "no JSON in it"
	otherJSON   fault = "not the JSON that was asked for"
	tooSlow     fault = "too slow"
	unreachable fault = "no connection, or it broke"
	badStatus   fault = "error of the server"
	otherFormat fault = "format not supported" // not a failure: it is asked in another one
)

var allFaults = []fault{refuses, cutOff, onlyThinks, callsTool, inThoughts, noText, notJSON, otherJSON, tooSlow, unreachable, badStatus}

// newTap listens on loopback for a server whose protocol is below to.
func newTap(to *url.URL, onCall func(part string, n int, took time.Duration)) (*tap, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tap{URL: "http://" + l.Addr().String() + to.Path, to: to, done: make(chan error, 1), onCall: onCall}
	t.srv = &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { t.done <- t.srv.Serve(l) }()
	return t, nil
}

func (t *tap) Close() error {
	err := t.srv.Close()
	if e := <-t.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// begin says what the next requests are for.
func (t *tap) begin(part string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = part
}

// callsOf returns the calls of a part.
func (t *tap) callsOf(part string) (list []tapped) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.Part == part {
			list = append(list, c)
		}
	}
	return list
}

// all returns all calls.
func (t *tap) all() []tapped {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// gone reports whether the last few requests had no answer at all.
func (t *tap) gone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.calls)
	return n >= inARow && !slices.ContainsFunc(t.calls[n-inARow:], func(c tapped) bool { return c.Fault != unreachable })
}

// inARow is how many requests without an answer mean that the server is gone.
const inARow = 3

// mostTapped is how many bytes of a request or an answer are read.
const mostTapped = 8 << 20

func (t *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, err := io.ReadAll(io.LimitReader(r.Body, mostTapped))
	if err != nil {
		return
	}
	to := *t.to
	to.Path = r.URL.Path
	begin := time.Now()
	res, out, err := t.pass(r, to.String(), in)
	c := noted(in, res, out)
	c.Took = time.Since(begin)
	switch {
	case err == nil:
	case errors.Is(r.Context().Err(), context.Canceled): // the client's timeout ended it
		c.Fault = tooSlow
	default:
		c.Fault = unreachable
	}
	t.mu.Lock()
	if r.Method == http.MethodPost {
		c.Part = t.part
		t.calls = append(t.calls, c)
	}
	n := 0
	for i := range t.calls {
		if t.calls[i].Part == c.Part {
			n++
		}
	}
	t.mu.Unlock()
	if r.Method == http.MethodPost {
		t.onCall(c.Part, n, c.Took)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // for the node, the connection broke, too
	}
	for _, h := range []string{"Content-Type", "Retry-After", "Location"} {
		if v := res.Header.Get(h); v != "" {
			w.Header().Set(h, v)
		}
	}
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(out)
}

// tapClient follows no redirects, as the node follows none.
var tapClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (t *tap) pass(r *http.Request, to string, in []byte) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to, bytes.NewReader(in))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range []string{"Content-Type", "Authorization"} {
		if v := r.Header.Get(h); v != "" {
			req.Header.Set(h, v)
		}
	}
	res, err := tapClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(io.LimitReader(res.Body, mostTapped))
	return res, out, err
}

// noted reads a request and its answer.
func noted(in []byte, res *http.Response, out []byte) (c tapped) {
	var asked struct {
		Messages       []struct{ Content any }
		ResponseFormat *struct{ Type string } `json:"response_format"`
	}
	_ = json.Unmarshal(in, &asked)
	c.Format = "text"
	if f := asked.ResponseFormat; f != nil {
		c.JSON, c.Format = true, map[string]string{"json_schema": "schema", "json_object": "object"}[f.Type]
	}
	if len(asked.Messages) > 0 {
		system, _ := asked.Messages[0].Content.(string)
		c.JSON = c.JSON || strings.Contains(system, "Its JSON Schema is:")
	}
	if res == nil {
		return c
	}
	c.Status = res.StatusCode
	var a struct {
		Choices []struct {
			Message struct {
				Content   any
				Refusal   string
				ToolCalls []struct{ Function struct{ Arguments any } } `json:"tool_calls"`
				Thoughts  string                                       `json:"reasoning_content"`
				Reasoning string
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			Prompt     float64 `json:"prompt_tokens"`
			Completion float64 `json:"completion_tokens"`
		}
		Error any
	}
	_ = json.Unmarshal(out, &a)
	c.Prompt, c.Completion = int(a.Usage.Prompt), int(a.Usage.Completion)
	if c.Status/100 != 2 || a.Error != nil {
		c.Fault, c.Message = badStatus, errorWords(a.Error, out)
		if words := strings.ToLower(c.Message); c.JSON && c.Format != "text" && (c.Status == 400 || c.Status == 422) && slices.ContainsFunc([]string{"response_format", "schema", "grammar", "json_object"}, func(s string) bool { return strings.Contains(words, s) }) {
			c.Fault = otherFormat
		}
		return c
	}
	if len(a.Choices) == 0 {
		c.Fault = noText
		return c
	}
	m := &a.Choices[0].Message
	text, endless := withoutThoughts(wordsOf(m.Content))
	finish, blank := a.Choices[0].FinishReason, strings.TrimSpace(text) == ""
	switch {
	case m.Refusal != "" || finish == "content_filter":
		c.Fault = refuses
	case endless || blank && finish == "length":
		c.Fault = onlyThinks
	case blank && len(m.ToolCalls) > 0, strings.HasPrefix(strings.TrimSpace(text), "<tool_call>"):
		c.Fault = callsTool
	case c.JSON && blank && strings.HasPrefix(strings.TrimSpace(m.Thoughts+m.Reasoning), "{"):
		c.Fault = inThoughts
	case finish == "length":
		c.Fault = cutOff
	case blank:
		c.Fault = noText
	}
	if !c.JSON {
		return c
	}
	if blank && len(m.ToolCalls) > 0 {
		text = wordsOf(m.ToolCalls[0].Function.Arguments)
	} else if blank {
		text = m.Thoughts + m.Reasoning
	}
	b, err := llm.Repair(text)
	if err != nil {
		c.Fault = cmp.Or(c.Fault, notJSON)
		return c
	}
	if strings.Contains(string(in), `"operations"`) {
		if c.Operations, err = judge.Parse(b); err != nil {
			c.Fault = cmp.Or(c.Fault, otherJSON)
		}
	}
	return c
}

// wordsOf returns a text, the texts of parts, or anything else as JSON.
func wordsOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, p := range v {
			if m, _ := p.(map[string]any); m["type"] == "text" {
				s, _ := m["text"].(string)
				b.WriteString(s)
			}
		}
		return b.String()
	}
	b, _ := json.Marshal(v) // it came from JSON
	return string(b)
}

// errorWords returns what a server says is wrong.
func errorWords(e any, body []byte) string {
	s := ""
	switch e := e.(type) {
	case string:
		s = e
	case map[string]any:
		s, _ = e["message"].(string)
	}
	s = strings.Join(strings.Fields(cmp.Or(s, strings.ToValidUTF8(string(body), ""))), " ")
	return firstRunes(s, 160)
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// withoutThoughts removes what stands between the marks that most models have.
func withoutThoughts(text string) (rest string, endless bool) {
	for _, mark := range [][2]string{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"<|channel|>analysis", "<|channel|>final<|message|>"}, {"<|channel>thought", "<channel|>"}} {
		if _, after, ok := strings.Cut(text, mark[1]); ok {
			return after, false
		}
		if strings.HasPrefix(strings.TrimSpace(text), mark[0]) {
			return "", true
		}
	}
	return text, false
}
