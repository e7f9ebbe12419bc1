package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
)

// The talk is complete, and rules alone find some of it, but not all.
func TestMindTalk(t *testing.T) {
	lines, err := mindLines()
	if err != nil || len(lines) != 60 {
		t.Fatal(len(lines), err)
	}
	questions, err := mindQuestions()
	if err != nil || len(questions) != 40 {
		t.Fatal(len(questions), err)
	}
	langs, all := map[string]int{}, ""
	for i, l := range lines {
		langs[l.Lang]++
		all += l.Text + " " + l.Speaker + "\n"
		if (l.None == "") == (len(l.Expect) == 0) || l.Text == "" || l.Speaker == "" || i > 0 && !l.At.After(lines[i-1].At) {
			t.Errorf("%+v", l)
		}
	}
	if langs["en"] < 20 || langs["zh"] < 20 {
		t.Errorf("%v", langs)
	}
	nowhere := 0
	for _, q := range questions {
		if len(q.Has) == 0 {
			nowhere++
		} else if !q.answeredBy(all) {
			t.Errorf("no line answers %q", q.Question)
		}
	}
	if nowhere != 12 {
		t.Errorf("%d questions that no line answers", nowhere)
	}
}

// goodMind answers as a good model would: each line with something to remember becomes a memory in
// its own words, and a question is answered from the line that has the answer.
func goodMind(t *testing.T) func(*llmtest.Request) string {
	lines, err := mindLines()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := mindQuestions()
	if err != nil {
		t.Fatal(err)
	}
	return func(r *llmtest.Request) string {
		var data struct {
			Messages []struct {
				N    int
				Text string
			}
		}
		last := r.Messages[0].Content // also if it is asked again
		switch {
		case strings.Contains(r.System, `"sum"`) || strings.Contains(r.Body, `"sum"`):
			return `{"sum":5}`
		case strings.Contains(last, "Question: "):
			for i := range questions {
				if q := &questions[i]; strings.Contains(last, q.Question) {
					for l := range strings.Lines(last) {
						if cite, rest, ok := strings.Cut(strings.TrimLeft(l, "- "), "]"); ok && strings.HasPrefix(cite, "[") && q.answeredBy(rest) {
							return "It is: " + strings.TrimSpace(rest) + " " + cite + "]"
						}
					}
				}
			}
			return "I don't know."
		case json.Unmarshal([]byte(last), &data) != nil:
			return "yes"
		case !strings.Contains(r.Body, "operations"):
			return "They talked."
		}
		ops := []judge.Operation{}
		for _, m := range data.Messages {
			for i := range lines {
				if l := &lines[i]; l.Text == m.Text && len(l.Expect) > 0 {
					ops = append(ops, judge.Operation{Op: memory.Add, Message: m.N, Quote: l.Text, Type: typeOf(l), Text: l.Speaker + ": " + l.Text, Steps: []string{}, Sensitivity: "personal", Confidence: 0.8})
				}
			}
		}
		b, err := json.Marshal(map[string]any{"operations": ops})
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
}

func typeOf(l *labelled.Line) memory.Type {
	for _, k := range l.Expect[0].Kinds {
		if k == "preference" || k == "biography" || k == "place" || k == "possession" {
			return memory.Semantic
		}
	}
	return memory.Episodic
}

// contains reports each part that a text lacks.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("it lacks %q", p)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A stranger with Ollama types the command and nothing else.
func TestMindGood(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Kind: llmtest.Ollama, Models: []string{"qwen3:8b"}})
	s.Otherwise(llmtest.Func(goodMind(t)))
	lookAt(t, &ollamaURL, strings.TrimSuffix(s.URL, "/v1"))
	code, table, stderr := bench(t, "mind", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	contains(t, table, "| server | Ollama 0.12.6, on this machine |", "| model | qwen3:8b, 8.2B, Q4_K_M, 5.2 GB, 50 % of it in graphics memory |", "| context | 4096 tokens; the longest question had ",
		"| schema | answers | right |", "| object | answers | right |", "| text | answers | right |",
		"**Memories of 60 lines, 28 of them with nothing to remember**", "| proposed | 30: ADD 30, UPDATE 0, DELETE 0, NOOP 0 |", "| accepted | 30 of 30 (100 %) |",
		"| lines without a usable answer |  | 0 of 60 (0 %) |", "| … because of the model |  | 0 of 28 (0 %) |", "**Answers to 40 questions, 12 of which no line answers**",
		"| no answer from the model |  | 0 |", "| nothing | 0 | 0 | 0 |", "extract.v1, answer.v1", " threads, ")
	contains(t, stderr, "loading the model", "copy the table into an issue")
	found := row(t, table, "found, of what should be there (recall)")
	if rules, both := countIn(found[0]), countIn(found[1]); both != 29 || rules >= both || rules == 0 {
		t.Errorf("found %q", found)
	}
	right := row(t, table, "right")
	if without, with := countIn(right[0]), countIn(right[1]); with <= without || without == 0 {
		t.Errorf("right answers %q", right)
	}
	if unknown := row(t, table, `"I don't know" where no line answers it`); countIn(unknown[1]) != 12 || countIn(unknown[0]) > 12 || countIn(unknown[0]) < 6 {
		t.Errorf("not known %q", unknown)
	}
	for _, secret := range []string{"127.0.0.1", "http://", "shellfish"} {
		if strings.Contains(table, secret) {
			t.Errorf("the table has %q", secret)
		}
	}
}

// lookAt lets a test set the address at which a server is looked for.
func lookAt(t *testing.T, address *string, url string) {
	was := *address
	*address = url
	t.Cleanup(func() { *address = was })
}

// A server that is not Ollama, at its usual address, is found and named.
func TestMindFindsOthers(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Kind: llmtest.LMStudio})
	if usual := otherServers[0].url; usual != "http://127.0.0.1:1234/v1" {
		t.Errorf("LM Studio listens at port 1234, not at %s", usual)
	}
	lookAt(t, &otherServers[0].url, s.URL)
	code, _, stderr := bench(t, "mind", "--llm", "http://127.0.0.1:1/v1")
	if code != 1 || !strings.Contains(stderr, "LM Studio answers at another address. Run:\n  locket-bench mind --llm "+s.URL) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A context that is too short for question and answer is said to be so, because Ollama shortens a
// question without an error.
func TestMindContext(t *testing.T) {
	for limit, short := range map[int]bool{2000: false, 2500: true} {
		r := &mindReport{Server: &mindServer{}, Model: mindModel{Context: 4096}, Limit: limit, Cost: map[string]mindCost{partLines: {Longest: 1700}}, Rules: mindScore{Langs: map[string]*mindCount{"en": {}, "zh": {}}}, Both: mindScore{Langs: map[string]*mindCount{"en": {}, "zh": {}}}}
		var b strings.Builder
		if err := r.markdown(&b); err != nil || strings.Contains(b.String(), "OLLAMA_CONTEXT_LENGTH") != short {
			t.Errorf("%d: %v, %s", limit, err, &b)
		}
	}
}

// Memories of the model are counted by themselves, too, and what two memories of a line say is no
// second right one.
func TestMindScore(t *testing.T) {
	by := func(plugin string) memory.Memory {
		return memory.Memory{Candidate: memory.Candidate{Source: memory.Source{Plugin: plugin}}}
	}
	rated := []ratedLine{
		{labelled.Score{Line: &labelled.Line{Lang: "en", Expect: []labelled.Label{{}, {}, {Optional: true}}}, Found: []int{0, -1, -1}, Verdicts: []labelled.Verdict{labelled.Right, labelled.Duplicate, labelled.Uncounted}}, []memory.Memory{by("facts"), by("llm"), by("llm")}},
		{labelled.Score{Line: &labelled.Line{Lang: "zh", Expect: []labelled.Label{{}}}, Found: []int{0}, Verdicts: []labelled.Verdict{labelled.Right}}, []memory.Memory{by("llm")}},
		{labelled.Score{Line: &labelled.Line{Lang: "zh", None: "filler"}, Verdicts: []labelled.Verdict{labelled.False}}, []memory.Memory{by("llm")}},
		{labelled.Score{Line: &labelled.Line{Lang: "en", None: "question"}, Verdicts: []labelled.Verdict{labelled.False}}, []memory.Memory{by("facts")}},
		{labelled.Score{Line: &labelled.Line{Lang: "en", None: "question"}}, nil},
	}
	got := scoreOf(rated)
	if got.mindCount != (mindCount{Labels: 3, Found: 2, Made: 5, Right: 2, Twice: 1}) || got.Model != (mindCount{Made: 3, Right: 1, Twice: 1}) || got.Empty != 3 || got.False != 2 || got.FalseByModel != 1 ||
		*got.Langs["zh"] != (mindCount{Labels: 1, Found: 1, Made: 2, Right: 1}) {
		t.Errorf("%+v", got)
	}
}

// row returns the cells after the first of a table's row.
func row(t *testing.T, table, name string) []string {
	t.Helper()
	for l := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(l, "| "+name+" | "); ok {
			return strings.Split(strings.TrimSuffix(strings.TrimRight(rest, "\n"), " |"), " | ")
		}
	}
	t.Fatalf("no row %q in:\n%s", name, table)
	return nil
}

// countIn returns the number at the beginning of a cell.
func countIn(cell string) int {
	n, _, _ := strings.Cut(cell, " ")
	v, err := strconv.Atoi(n)
	if err != nil {
		return -1
	}
	return v
}

// What a bad model or a bad server does is in the table, by kind, and the run ends.
func TestMindBad(t *testing.T) {
	for name, c := range map[string]struct {
		step  llmtest.Step
		fault string
		lines bool // the lines are without an answer
		says  string
	}{
		"refuses": {llmtest.Refuses("I can't help with that."), "refusal", true, "the server refuses the question: the model says: I can't help with that."},
		"thinks":  {llmtest.EndsEarly("<think>Let me see what the user wants"), "thoughts without an end", true, "the limit of tokens ended it before there was text"},
		"chats":   {llmtest.Say("Sure! Here is what I would remember: they talked."), "no JSON in it", true, ""},
		"hangs":   {llmtest.Hangs(), "too slow", true, "the model takes too long"},
		"invents and quotes": {llmtest.Func(func(r *llmtest.Request) string {
			return `{"operations": [{"op":"ADD","message":1,"quote":"nobody said this","id":null,"type":"semantic","text":"x","value":null,"steps":[],"when":null,"sensitivity":"personal","confidence":0.9}]}`
		}), "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, llmtest.Options{Kind: llmtest.Ollama})
			s.Script(llmtest.Say("yes"))
			s.Otherwise(c.step)
			args := []string{"mind", "--cache", cache, "--llm", s.URL, "--lines", "3", "--questions", "2"}
			if name == "hangs" {
				args = append(args, "--timeout", "300ms")
			}
			code, table, stderr := bench(t, args...)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			contains(t, table, "**Memories of 3 lines", c.says)
			if c.lines {
				if parked := row(t, table, "lines without a usable answer"); countIn(parked[1]) == 0 {
					t.Errorf("every line had an answer:\n%s", table)
				}
			}
			if c.fault == "" {
				contains(t, table, "| proposed | 1: ADD 1,", "| accepted | 0 of 1 (0 %) |", "| refused: it quotes what was not said | 1 |")
				return
			}
			if cell := row(t, table, c.fault)[1]; countIn(cell) < 1 {
				t.Errorf("the lines' cell is %q:\n%s", cell, table)
			}
		})
	}
}

// The tap tells apart what a server does, and passes it on unchanged.
func TestTap(t *testing.T) {
	good := `{"operations": []}`
	for name, c := range map[string]struct {
		step  llmtest.Step
		words fault // of a question in words
		json  fault // of one for JSON
	}{
		"a good answer":    {llmtest.Say(good), "", ""},
		"in a fence":       {llmtest.Fenced(good), "", ""},
		"thoughts first":   {llmtest.Say("[THINK]{no}[/THINK]" + good), "", ""},
		"in parts":         {llmtest.InParts("{no}", good), "", ""},
		"among thoughts":   {llmtest.AmongThoughts("reasoning", good), noText, inThoughts},
		"thinks":           {llmtest.EndsEarly("<think>Let me see"), onlyThinks, onlyThinks},
		"thinks apart":     {llmtest.ThinksApart("Let me see", ""), onlyThinks, onlyThinks},
		"refuses":          {llmtest.Refuses("no"), refuses, refuses},
		"is filtered":      {llmtest.Filtered("n"), refuses, refuses},
		"chats":            {llmtest.Say("Sure!"), "", notJSON},
		"is cut off":       {llmtest.EndsEarly(`{"operations": [{"op":`), cutOff, cutOff},
		"calls":            {llmtest.Calls("search", `{"query":"it"}`), callsTool, callsTool},
		"calls in words":   {llmtest.Say("<tool_call>\n{}"), callsTool, callsTool},
		"says nothing":     {llmtest.Say(""), noText, noText},
		"has no choice":    {llmtest.Raw(200, `{"choices":[]}`), noText, noText},
		"has another form": {llmtest.Say(`{"memories": []}`), "", otherJSON},
		"has no room":      {llmtest.Fails(400, "", "request (1712 tokens) exceeds the available context size (1024 tokens)"), badStatus, badStatus},
		"fails at 200":     {llmtest.Raw(200, `{"error":"it is broken"}`), badStatus, badStatus},
		"has no schemas":   {llmtest.Fails(400, "", "json_schema is not supported"), badStatus, otherFormat},
		"breaks":           {llmtest.Breaks("a long answer"), unreachable, unreachable},
	} {
		s := llmtest.New(t, llmtest.Options{})
		to, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		tapped, err := newTap(to, func(string, int, time.Duration) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"words", "json"} {
			tapped.begin(part)
			s.Otherwise(c.step)
			client, err := llm.New(llm.Config{URL: tapped.URL, Model: s.Model(), Tries: 1, Format: llm.FormatSchema})
			if err != nil {
				t.Fatal(err)
			}
			direct, err := llm.New(llm.Config{URL: s.URL, Model: s.Model(), Tries: 1, Format: llm.FormatSchema})
			if err != nil {
				t.Fatal(err)
			}
			r := llm.Request{Messages: llm.FromUser("hi")}
			want := c.words
			if part == "json" {
				want = c.json
				r.Schema = &llm.Schema{Name: "operations", JSON: json.RawMessage(`{"type":"object","properties":{"operations":{"type":"array","items":{"type":"string"}}},"required":["operations"],"additionalProperties":false}`)}
			}
			a, err := client.Ask(t.Context(), r)
			b, err2 := direct.Ask(t.Context(), r)
			if a.Text != b.Text || a.Usage != b.Usage || (err == nil) != (err2 == nil) {
				t.Errorf("%s: %q, %v; without the tap %q, %v", name, a.Text, err, b.Text, err2)
			}
			calls := tapped.callsOf(part)
			if len(calls) != 1 || calls[0].Fault != want || calls[0].JSON != (part == "json") {
				t.Errorf("%s, %s: %+v, want %q", name, part, calls, want)
			}
		}
		if err := tapped.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a model mends when it is asked again counts as a fault of a request, and not of a line.
func TestMindMends(t *testing.T) {
	good := goodMind(t)
	s := llmtest.New(t, llmtest.Options{Kind: llmtest.LlamaCpp})
	s.Otherwise(func(s *llmtest.Server, w http.ResponseWriter, r *http.Request, req *llmtest.Request) {
		step := llmtest.Fenced(good(req))
		if req.Format != "" && len(req.Messages) == 1 {
			step = llmtest.Calls("search", `{"query":"it"}`)
		}
		step(s, w, r, req)
	})
	code, table, stderr := bench(t, "mind", "--cache", cache, "--llm", s.URL, "--lines", "7", "--questions", "1")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	contains(t, table, "| server | llama.cpp "+llmtest.Build, "| schema | answers | right (2 requests) |", "| text | answers | right |", "| lines without a usable answer |  | 0 of 7 (0 %) |", "| call of a tool in place of text | 2 | 1 | 0 |", "| proposed | 4: ADD 4,", "| accepted | 4 of 4 (100 %) |")
}

// Without a server, without a choice or without a key, the command says what to type.
func TestMindAdvice(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(page.Close)
	ollama := func(models ...string) string {
		return llmtest.New(t, llmtest.Options{Kind: llmtest.Ollama, Models: models}).URL
	}
	two := ollama("qwen3:8b", "llama3.2:latest", "nomic-embed-text:latest")
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = w.Write([]byte(`{"object":"list","data":null}`))
		case "/api/tags":
			_, _ = w.Write([]byte(`{"models":[]}`))
		case "/api/version":
			_, _ = w.Write([]byte(`{"version":"0.12.6"}`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(empty.Close)
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"absent":      {[]string{"--llm", "http://127.0.0.1:1/v1"}, []string{"no model server answers at http://127.0.0.1:1/v1", "locket-bench mind --llm http://127.0.0.1:"}},
		"two":         {[]string{"--llm", two}, []string{"Ollama has 2 models. Choose one:", "\n  locket-bench mind --llm " + two + " --model qwen3:8b   # 8.2B, Q4_K_M, 5.2 GB", "\n  locket-bench mind --llm " + two + " --model llama3.2:latest"}},
		"another":     {[]string{"--llm", two, "--model", "gpt-5"}, []string{`Ollama has no model "gpt-5". It has:`, "--model qwen3:8b"}},
		"none":        {[]string{"--llm", empty.URL}, []string{"ollama pull qwen3:8b"}},
		"a web page":  {[]string{"--llm", page.URL}, []string{"is no model server"}},
		"no URL":      {[]string{"--llm", "localhost:11434"}, []string{"want a URL such as http://127.0.0.1:11434/v1"}},
		"without key": {[]string{"--llm", llmtest.New(t, llmtest.Options{Key: "k"}).URL}, []string{"wants a key", "LOCKET_LLM_KEY"}},
	} {
		code, table, stderr := bench(t, append([]string{"mind"}, c.args...)...)
		if code != 1 || table != "" {
			t.Errorf("%s: exit %d, %q", name, code, table)
		}
		contains(t, stderr, c.want...)
	}
	if strings.Contains(func() string { _, _, e := bench(t, "mind", "--llm", two); return e }(), "embed") {
		t.Error("an embedding model is offered")
	}
	if code, _, stderr := bench(t, "mind", "--lines", "-1"); code != 2 || !strings.Contains(stderr, "needs none") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A server that goes away ends the run with an error, and not with a table.
func TestMindServerGoes(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Kind: llmtest.Ollama})
	s.Script(llmtest.Say("yes"))
	s.Otherwise(llmtest.Breaks("a long answer"))
	code, table, stderr := bench(t, "mind", "--cache", cache, "--llm", s.URL, "--lines", "2", "--questions", "1")
	if code != 1 || table != "" || !strings.Contains(stderr, "the server has gone") {
		t.Errorf("exit %d, %q, %s", code, table, stderr)
	}
	s = llmtest.New(t, llmtest.Options{Kind: llmtest.LlamaCpp})
	s.Otherwise(llmtest.Fails(503, "100", "Loading model"))
	code, table, stderr = bench(t, "mind", "--cache", cache, "--llm", s.URL)
	if code != 1 || table != "" || !strings.Contains(stderr, "nothing was measured: the server is busy: 503: Loading model") {
		t.Errorf("exit %d, %q, %s", code, table, stderr)
	}
}

// Each kind of server is recognised by what only it has.
func TestMindServers(t *testing.T) {
	for kind, want := range map[llmtest.Kind]struct {
		server, version string
		model           mindModel
	}{
		llmtest.Ollama:   {"Ollama", llmtest.Version, mindModel{Name: "m", Parameters: "8.2B", Quantised: "Q4_K_M", Bytes: llmtest.SizeBytes}},
		llmtest.LlamaCpp: {"llama.cpp", llmtest.Build, mindModel{Name: "m", Parameters: "8.2B", Bytes: llmtest.SizeBytes, Context: llmtest.ContextLength}},
		llmtest.VLLM:     {"vLLM", llmtest.Version, mindModel{Name: "m", Context: llmtest.ContextLength}},
		llmtest.LMStudio: {"LM Studio", "", mindModel{Name: "m", Parameters: "8.2B", Quantised: "Q4_K_M", Bytes: llmtest.SizeBytes, Context: llmtest.ContextLength}},
		llmtest.OpenAI:   {"OpenAI-compatible", "", mindModel{Name: "m"}},
	} {
		s := llmtest.New(t, llmtest.Options{Kind: kind, Models: []string{"m"}, Key: "k"})
		got, err := openMind(t.Context(), s.URL, "k")
		if err != nil || got.Name != want.server || got.Version != want.version || len(got.Models) != 1 || got.Models[0] != want.model || !got.Here {
			t.Errorf("%q: %+v, %v", kind, got, err)
		}
	}
	for file, want := range map[string]string{"Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "Q4_K_M", "gemma-3-4b-it-qat-q4_0.gguf": "Q4_0", "qwen.gguf": "", "Qwen3-4B-BF16.gguf": "BF16", "gpt-oss-20b-MXFP4.gguf": "MXFP4"} {
		if got := quantisationIn(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// With LM Studio, whose answers to json_object are errors in words, the run is complete, and --json
// has the same figures.
func TestMindLMStudio(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Kind: llmtest.LMStudio, Models: []string{"qwen/qwen3-8b"}})
	s.Otherwise(llmtest.Func(goodMind(t)))
	code, table, stderr := bench(t, "mind", "--cache", cache, "--llm", s.URL, "--lines", "7", "--questions", "3")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	contains(t, table, "| server | LM Studio, on this machine |", "| schema | answers | right |", "| object | does not | the server refuses the question: 400: 'response_format.type' must be 'json_schema' or 'text' |", "| text | answers | right |", "| nothing | 0 | 0 | 0 |")
	code, table, stderr = bench(t, "mind", "--json", "--cache", cache, "--llm", s.URL, "--lines", "7", "--questions", "3")
	var r mindReport
	if err := json.Unmarshal([]byte(table), &r); code != 0 || err != nil {
		t.Fatalf("exit %d: %v, %s", code, err, stderr)
	}
	if r.Suite != "mind" || r.Server.Name != "LM Studio" || r.Model.Name != "qwen/qwen3-8b" || r.Both.Found != r.Both.Labels || r.Both.Labels == 0 || r.Rules.Found >= r.Both.Found || r.Proposed["ADD"] != 4 || r.With.Somewhere != 3 ||
		r.Cost[partLines].Requests == 0 || r.Cost[partLines].Prompt == 0 || strings.Contains(table, s.URL) {
		t.Errorf("%s", table)
	}
}
