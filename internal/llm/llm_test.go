package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
)

const key = "sk-not-to-be-seen"

// ask makes a client for a server; the waits between tries are recorded instead.
func ask(t *testing.T, s *llmtest.Server, cfg Config) (*Client, *[]time.Duration) {
	t.Helper()
	cfg.URL, cfg.Model = s.URL, s.Model()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	waits := &[]time.Duration{}
	c.pause = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return c, waits
}

func kindOf(err error) Kind {
	f, ok := errors.AsType[*Fault](err)
	if !ok {
		return Kind(fmt.Sprintf("no fault: %v", err))
	}
	return f.Kind
}

func TestAsk(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-another-program")
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
	t.Setenv("OPENAI_ORG_ID", "org-of-another-program")
	s := llmtest.New(t, llmtest.Options{Key: key})
	c, _ := ask(t, s, Config{Key: key})
	s.Script(llmtest.Say("forty-two"))
	a, err := c.Ask(t.Context(), Request{System: "Be brief.", Messages: []Message{{Role: User, Text: "What is six times seven?"}}})
	if err != nil || a.Text != "forty-two" || a.Cut || a.Usage.Prompt == 0 || a.Usage.Completion == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	r := s.Requests()[0]
	if r.System != "Be brief." || r.Last() != "What is six times seven?" || r.Format != "" {
		t.Errorf("%+v", r)
	}
	for name := range r.Header {
		if !strings.Contains(" Accept Accept-Encoding Authorization Content-Length Content-Type User-Agent ", " "+name+" ") {
			t.Errorf("sends %s: %s", name, r.Header.Get(name))
		}
	}
	if st := c.Stats(); st.Calls != 1 || st.Faults != 0 || st.Prompt != a.Usage.Prompt || st.Answered.IsZero() {
		t.Errorf("%+v", st)
	}
	if name := c.Name(); !strings.Contains(name, "test-model at 127.0.0.1") || strings.Contains(fmt.Sprint(c), key) {
		t.Errorf("%s, %v", name, c)
	}
}

func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		opt   llmtest.Options
		cfg   Config
		steps []llmtest.Step
		want  Kind // empty: there is an answer
		waits int
	}{
		"429 with Retry-After": {steps: []llmtest.Step{llmtest.Fails(429, "7", "slow down"), llmtest.Say("ok")}, waits: 1},
		"429 for long":         {steps: []llmtest.Step{llmtest.Fails(429, "600", "slow down")}, want: Busy},
		"503 again and again":  {steps: []llmtest.Step{llmtest.Fails(503, "", ""), llmtest.Fails(503, "", ""), llmtest.Fails(503, "", "")}, want: Busy, waits: 2},
		"500 once":             {steps: []llmtest.Step{llmtest.Fails(500, "", "oops"), llmtest.Say("ok")}, waits: 1},
		"broken off":           {steps: []llmtest.Step{llmtest.Breaks("a long answer"), llmtest.Say("ok")}, waits: 1},
		"broken off for good":  {steps: []llmtest.Step{llmtest.Breaks("a"), llmtest.Breaks("a"), llmtest.Breaks("a")}, want: Gone, waits: 2},
		"a proxy's page":       {steps: []llmtest.Step{llmtest.Plain(200, "<html>hello"), llmtest.Say("ok")}, waits: 1},
		"a proxy's page stays": {steps: []llmtest.Step{llmtest.Plain(200, "<html>"), llmtest.Plain(200, "<html>"), llmtest.Plain(200, "<html>")}, want: Gone, waits: 2},
		"a proxy's error":      {steps: []llmtest.Step{llmtest.Plain(502, "<html>bad gateway"), llmtest.Say("ok")}, waits: 1},
		"no text":              {steps: []llmtest.Step{llmtest.Say(" ")}, want: Babbled},
		"too much text":        {steps: []llmtest.Step{llmtest.Huge(maxBody)}, want: Babbled},
		"too long a question":  {steps: []llmtest.Step{llmtest.Fails(400, "", "maximum context length is 4096 tokens")}, want: Refused},
		"slow":                 {cfg: Config{Timeout: 50 * time.Millisecond}, steps: []llmtest.Step{llmtest.Hangs()}, want: Slow},
		"sent elsewhere":       {steps: []llmtest.Step{llmtest.Redirects("http://elsewhere.invalid/")}, want: Setup},
		"loading the model":    {opt: llmtest.Options{Kind: llmtest.LlamaCpp}, steps: []llmtest.Step{llmtest.Fails(503, "", "Loading model"), llmtest.Say("ok")}, waits: 1},
		"too long for vLLM":    {opt: llmtest.Options{Kind: llmtest.VLLM}, steps: []llmtest.Step{llmtest.Fails(400, "", "'max_tokens' is too large: 2000. This model's maximum context length is 2048 tokens")}, want: Refused},
		"200, and an error":    {steps: []llmtest.Step{llmtest.Raw(200, `{"error":{"code":502,"message":"Provider returned error"}}`), llmtest.Say("ok")}, waits: 1},
		"200, and a limit":     {steps: []llmtest.Step{llmtest.Raw(200, `{"error":{"code":429,"message":"slow down"}}`), llmtest.Say("ok")}, waits: 1},
		"200, and a key":       {cfg: Config{Key: key}, steps: []llmtest.Step{llmtest.Raw(200, `{"error":{"code":401,"message":"no user `+key+`"}}`)}, want: Setup},
		"200, and a text":      {steps: []llmtest.Step{llmtest.Raw(200, `{"error":"the model crashed"}`), llmtest.Say("ok")}, waits: 1},
		"failed while it said": {steps: []llmtest.Step{llmtest.EndsWith("o", "error"), llmtest.Say("ok")}, waits: 1},
		"blank lines first":    {steps: []llmtest.Step{llmtest.Raw(200, "\n\n\n"+`{"choices":[{"message":{"content":"ok"}}],"error":null}`)}},
		"no choices":           {steps: []llmtest.Step{llmtest.Raw(200, `{"choices":[]}`)}, want: Babbled},
		"choices of null":      {steps: []llmtest.Step{llmtest.Raw(200, `{"choices":[{"message":null,"finish_reason":null}]}`)}, want: Babbled},
		"no money":             {steps: []llmtest.Step{llmtest.Fails(402, "", "Insufficient Balance")}, want: Setup},
		"no key":               {opt: llmtest.Options{Key: key}, want: Setup},
		"wrong key":            {opt: llmtest.Options{Key: key}, cfg: Config{Key: key + "-wrong"}, want: Setup},
		"wants its own tokens": {opt: llmtest.Options{NewTokens: true, NoTemperature: true}, steps: []llmtest.Step{llmtest.Say("ok")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, test.opt)
			c, waits := ask(t, s, test.cfg)
			s.Script(test.steps...)
			a, err := c.Ask(t.Context(), Request{Messages: []Message{{Role: User, Text: "secret words"}}})
			if test.want == "" && (err != nil || a.Text != "ok") || test.want != "" && kindOf(err) != test.want {
				t.Fatalf("%q, %v; want %q", a.Text, err, test.want)
			}
			if len(*waits) != test.waits || s.Left() != 0 {
				t.Errorf("waited %v, %d steps left", *waits, s.Left())
			}
			if err != nil && (strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "secret words")) {
				t.Errorf("tells too much: %v", err)
			}
			if name == "429 with Retry-After" && (*waits)[0] != 7*time.Second {
				t.Errorf("waited %v, was told 7 s", *waits)
			}
		})
	}
}

func TestUnknownModelAndUnreachableServer(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Models: []string{"other"}})
	c, err := New(Config{URL: s.URL, Model: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(t.Context(), Request{Messages: []Message{{Role: User, Text: "hi"}}}); kindOf(err) != Setup {
		t.Errorf("ask: %v", err)
	}
	if err := c.Check(t.Context()); kindOf(err) != Setup || !strings.Contains(err.Error(), "other") {
		t.Errorf("check: %v", err)
	}
	if err := (func() error { c, _ := ask(t, s, Config{}); return c.Check(t.Context()) })(); err != nil {
		t.Errorf("check of one that is there: %v", err)
	}
	none := llmtest.New(t, llmtest.Options{NoModelList: true})
	if c, _ := ask(t, none, Config{}); c.Check(t.Context()) != nil {
		t.Error("a server without a list does not answer")
	}
	if c, err = New(Config{URL: "http://127.0.0.1:1", Model: "mine", Tries: 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(t.Context()); kindOf(err) != Gone {
		t.Errorf("nobody there: %v", err)
	}
	for _, url := range []string{"", "ftp://x", "http://user:pass@x/", "http://x/?key=1", ":"} {
		if _, err := New(Config{URL: url, Model: "m"}); err == nil {
			t.Errorf("takes %q", url)
		}
	}
	if _, err := New(Config{URL: "http://x"}); err == nil {
		t.Error("takes no model")
	}
}

func TestEndOfContext(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	c, _ := ask(t, s, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan struct{})
	s.Script(llmtest.Holds(came, nil, nil))
	go func() { <-came; cancel() }()
	if _, err := c.Ask(ctx, Request{Messages: []Message{{Role: User, Text: "hi"}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

var schema = &Schema{Name: "sum", JSON: json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"],"additionalProperties":false}`)}

func TestAskJSON(t *testing.T) {
	good := `{"sum": 3}`
	for name, test := range map[string]struct {
		opt    llmtest.Options
		steps  []llmtest.Step
		format string // of the last request
		want   Kind
	}{
		"schema":                    {steps: []llmtest.Step{llmtest.Say(good)}, format: "json_schema"},
		"no schemas":                {opt: llmtest.Options{NoSchema: true}, steps: []llmtest.Step{llmtest.Say(good)}, format: "json_object"},
		"no formats":                {opt: llmtest.Options{NoFormat: true}, steps: []llmtest.Step{llmtest.Fenced(good)}},
		"in a fence":                {steps: []llmtest.Step{llmtest.Fenced(good)}, format: "json_schema"},
		"broken once":               {steps: []llmtest.Step{llmtest.Say(`{"sum": `), llmtest.Say(good)}, format: "json_schema"},
		"of a wrong type, then cut": {steps: []llmtest.Step{llmtest.Say(`{"sum": "three"}`), llmtest.EndsEarly(`{"sum"`), llmtest.Say(good)}, format: "json_schema"},
		"a call":                    {steps: []llmtest.Step{llmtest.Calls("sum", good)}, format: "json_schema"},
		"a call of Ollama's":        {opt: llmtest.Options{Kind: llmtest.Ollama}, steps: []llmtest.Step{llmtest.Calls("sum", good)}, format: "json_schema"},
		"a call with an object":     {steps: []llmtest.Step{llmtest.Calls("sum", json.RawMessage(good))}, format: "json_schema"},
		"another call, then right":  {steps: []llmtest.Step{llmtest.Calls("search", `{"query":"1 and 2"}`), llmtest.Say(good)}, format: "json_schema"},
		"only calls":                {steps: []llmtest.Step{llmtest.Calls("a", "{}"), llmtest.Calls("a", "{}"), llmtest.Calls("a", "{}")}, format: "json_schema", want: Babbled},
		"a call as text":            {steps: []llmtest.Step{llmtest.Say("<tool_call>\n{\"name\": \"sum\", \"arguments\": " + good + "}\n</tool_call>")}, format: "json_schema"},
		"a call as Llama's text":    {steps: []llmtest.Step{llmtest.Say(`{"name":"sum","parameters":` + good + `}`)}, format: "json_schema"},
		"among vLLM's thoughts":     {opt: llmtest.Options{Kind: llmtest.VLLM}, steps: []llmtest.Step{llmtest.AmongThoughts("reasoning_content", good)}, format: "json_schema"},
		"among thoughts, newer":     {steps: []llmtest.Step{llmtest.AmongThoughts("reasoning", " "+good)}, format: "json_schema"},
		"thoughts, then right":      {steps: []llmtest.Step{llmtest.AmongThoughts("reasoning", "It is {3}."), llmtest.Say(good)}, format: "json_schema"},
		"in parts":                  {steps: []llmtest.Step{llmtest.InParts("It is {3}.", good)}, format: "json_schema"},
		"LM Studio":                 {opt: llmtest.Options{Kind: llmtest.LMStudio}, steps: []llmtest.Step{llmtest.Say(good)}, format: "json_schema"},
		"LM Studio without schemas": {opt: llmtest.Options{Kind: llmtest.LMStudio}, steps: []llmtest.Step{llmtest.Fails(400, "", "schema can't be used with this model"), llmtest.Say(good)}},
		"no system messages":        {opt: llmtest.Options{Kind: llmtest.VLLM, NoSystem: true}, steps: []llmtest.Step{llmtest.Say("no"), llmtest.Say(good)}, format: "json_schema"},
		"and no formats":            {opt: llmtest.Options{NoSystem: true, NoFormat: true}, steps: []llmtest.Step{llmtest.Say(good)}},
		"llama.cpp's grammar":       {opt: llmtest.Options{Kind: llmtest.LlamaCpp}, steps: []llmtest.Step{llmtest.Fails(400, "", "Failed to initialize samplers: failed to parse grammar"), llmtest.Say(good)}, format: "json_object"},
		"never":                     {steps: []llmtest.Step{llmtest.Say("no"), llmtest.Say("no!"), llmtest.Say("{]")}, format: "json_schema", want: Babbled},
		"empty, then right":         {steps: []llmtest.Step{llmtest.Say(""), llmtest.Say(good)}, format: "json_schema"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, test.opt)
			c, _ := ask(t, s, Config{})
			s.Script(test.steps...)
			var got struct{ Sum int }
			u, err := c.AskJSON(t.Context(), Request{System: "Add.", Messages: []Message{{Role: User, Text: "1 and 2"}}, Schema: schema}, func(b []byte) error {
				if err := json.Unmarshal(b, &got); err != nil || got.Sum != 0 {
					return err
				}
				return errors.New("sum is missing")
			})
			if test.want != "" && kindOf(err) != test.want || test.want == "" && (err != nil || got.Sum != 3) {
				t.Fatalf("%+v, %v", got, err)
			}
			all := s.Requests()
			last := all[len(all)-1]
			told := last.System
			if test.opt.NoSystem {
				told = last.Messages[0].Content
			}
			if last.Format != test.format || !strings.Contains(told, "Add.") || test.format != "json_schema" && !strings.Contains(told, `"sum"`) || !strings.Contains(last.Messages[0].Content, "1 and 2") {
				t.Errorf("format %q, system %q", last.Format, last.System)
			}
			if again := !slices.Contains([]string{"empty, then right", "thoughts, then right", "LM Studio without schemas", "llama.cpp's grammar"}, name); len(test.steps) > 1 && again && len(all[len(all)-1].Messages) != 3 {
				t.Errorf("asked again without what was wrong: %+v", all[len(all)-1].Messages)
			}
			if u.Prompt == 0 || s.Left() != 0 {
				t.Errorf("%+v, %d steps left", u, s.Left())
			}
		})
	}
}

// What a server says without text, or beside it, is told apart.
func TestAnswersWithoutText(t *testing.T) {
	for name, c := range map[string]struct {
		step llmtest.Step
		text string
		want Kind
		says string
	}{
		"thoughts before":   {llmtest.Say("<think>It is {4}.</think>\nFour."), "\nFour.", "", ""},
		"thoughts, no mark": {llmtest.Say("It is {4}.</think>Four."), "Four.", "", ""},
		"thoughts alone":    {llmtest.EndsEarly("<think>It may be {4}, or"), "", Babbled, "the limit of tokens ended it before there was text"},
		"thoughts apart":    {llmtest.ThinksApart("It is {4}.", "Four."), "Four.", "", ""},
		"apart, and alone":  {llmtest.ThinksApart("It may be {4}, or", ""), "", Babbled, "the limit of tokens ended it before there was text"},
		"Mistral's":         {llmtest.Say("[THINK]It is {4}.[/THINK]Four."), "Four.", "", ""},
		"gpt-oss's":         {llmtest.Say("<|channel|>analysis<|message|>It is {4}.<|end|><|start|>assistant<|channel|>final<|message|>Four."), "Four.", "", ""},
		"Gemma's":           {llmtest.Say("<|channel>thought\nIt is {4}.<channel|>Four."), "Four.", "", ""},
		"Mistral's, alone":  {llmtest.EndsEarly("[THINK]It may be"), "", Babbled, "the limit of tokens ended it before there was text"},
		"parts":             {llmtest.InParts("It is {4}.", "Four."), "Four.", "", ""},
		"parts of thoughts": {llmtest.InParts("It is {4}.", ""), "", Babbled, "an answer without text"},
		"a call":            {llmtest.Calls("add", `{"a":2,"b":2}`), "", Babbled, "it calls a tool, and was offered none"},
		"a call as text":    {llmtest.Say("\n<tool_call>\n{\"name\":\"add\"}\n</tool_call>"), "", Babbled, "it calls a tool, and was offered none"},
		"text in thoughts":  {llmtest.AmongThoughts("reasoning", "Four."), "", Babbled, "an answer without text"},
		"refusal":           {llmtest.Refuses("I can't help with that."), "", Refused, "the server refuses the question: the model says: I can't help with that."},
		"filter":            {llmtest.Filtered("Fou"), "", Refused, "a filter of the server stopped the answer"},
		"nothing":           {llmtest.Say(" "), "", Babbled, "an answer without text"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, llmtest.Options{})
			client, _ := ask(t, s, Config{})
			s.Script(c.step)
			a, err := client.Ask(t.Context(), Request{Messages: []Message{{Role: User, Text: "2 and 2"}}})
			if a.Text != c.text || c.want == "" && err != nil || c.want != "" && (kindOf(err) != c.want || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%q, %v", a.Text, err)
			}
		})
	}
}

// What a server says of an error is shown, in whatever form it says it.
func TestErrorWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"it is broken","type":"x","code":400}}`:          "it is broken", // OpenAI, llama.cpp, vLLM
		`{"error":"it is broken"}`:                                            "it is broken", // LM Studio
		`{"object":"error","message":"it is broken","code":400}`:              "it is broken", // older vLLM
		`{"detail":"it is broken"}`:                                           "it is broken", // FastAPI
		`{"detail":[{"loc":["body"],"msg":"it is broken","type":"x"}]}`:       "it is broken",
		`{"error":{"code":"invalid","innererror":{"status":"it is broken"}}}`: "it is broken",
		`{"error":null}`: "Bad Request",
		`it is broken`:   "Bad Request",
		``:               "Bad Request",
	} {
		s := llmtest.New(t, llmtest.Options{})
		c, _ := ask(t, s, Config{})
		s.Script(llmtest.Raw(400, body))
		if _, err := c.Ask(t.Context(), Request{Messages: FromUser("hi")}); kindOf(err) != Refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// An answer that can't be used costs as much as any other. If the limit of tokens ended the thoughts, the
// same question would end in the same way, so it is not asked again.
func TestCostOfUnusableAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		step  llmtest.Step
		calls int
	}{
		"thoughts":       {llmtest.EndsEarly("<think>" + strings.Repeat("hm, ", 200)), 1},
		"thoughts apart": {llmtest.ThinksApart(strings.Repeat("hm, ", 200), ""), 1},
		"a refusal":      {llmtest.Refuses(strings.Repeat("no, ", 200)), 1},
		"no JSON":        {llmtest.Say(strings.Repeat("hm, ", 200)), asks},
		"no text":        {llmtest.Say(" "), asks},
	} {
		s := llmtest.New(t, llmtest.Options{})
		client, _ := ask(t, s, Config{})
		s.Otherwise(c.step)
		r := Request{System: "Add.", Messages: FromUser("1 and 2"), Schema: schema}
		u, err := client.AskJSON(t.Context(), r, func([]byte) error { return nil })
		if st := client.Stats(); err == nil || st.Calls != c.calls || u != st.Usage || u.Prompt == 0 || name != "no text" && u.Completion == 0 {
			t.Errorf("%s: %+v for %+v, %v", name, u, st, err)
		}
		a, err := client.Ask(t.Context(), r)
		if a.Text != "" && err != nil || a.Usage.Prompt == 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// Each thing that a server does not support is found out once.
func TestRemembersUnsupportedFeatures(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{NoFormat: true, NewTokens: true})
	c, _ := ask(t, s, Config{})
	s.Otherwise(llmtest.Say(`{"sum":1}`))
	for range 2 {
		if _, err := c.AskJSON(t.Context(), Request{Messages: []Message{{Role: User, Text: "1"}}, Schema: schema}, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if st := c.Stats(); st.Calls != 5 { // three refusals, two answers
		t.Errorf("%d calls", st.Calls)
	}
	c, _ = ask(t, s, Config{Format: FormatSchema})
	if _, err := c.AskJSON(t.Context(), Request{Messages: []Message{{Role: User, Text: "1"}}, Schema: schema}, func([]byte) error { return nil }); kindOf(err) != Refused {
		t.Errorf("a format that was chosen is given up: %v", err)
	}
}

func TestRepair(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                       `{"a":1}`,
		"Sure!\n{\"a\":1} bye}":         `{"a":1}`,
		"```json\n{\"a\":[1,2,],}\n```": `{"a":[1,2]}`,
		"{\"a\":\"one\ntwo\t\"}":        `{"a":"one\ntwo\t"}`,
		`{"a":"}{,]\"},"}`:              `{"a":"}{,]\"},"}`,
		`{"a":1`:                        "",
		`{"a":"`:                        "",
		`{"a":"\`:                       "",
		`{"a":[1}`:                      "",
		`[1]`:                           "",
		``:                              "",
	} {
		got, err := Repair(in)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
		if err == nil && !json.Valid(got) {
			t.Errorf("%q: not JSON", got)
		}
	}
}

func FuzzRepair(f *testing.F) {
	f.Add("```{\"a\":[1,],}")
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := Repair(s); err == nil && (b[0] != '{' || b[len(b)-1] != '}') {
			t.Errorf("%q: %q", s, b)
		}
		// Valid JSON is not changed.
		var v map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &v) == nil && strings.HasPrefix(s, "{") {
			b, err := Repair(s)
			if err != nil || !json.Valid(b) {
				t.Errorf("%q: %q, %v", s, b, err)
			}
		}
	})
}

func TestWait(t *testing.T) {
	for try := 1; try < 20; try++ {
		if d := wait(try, nil); d < firstWait/2 || d > maxWait {
			t.Errorf("try %d waits %v", try, d)
		}
	}
}
