package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/serve"
)

// Broken answers: the lines are tried one by one, and a line that keeps failing
// is parked, with the reason, until somebody asks for it again.
func TestBrokenAnswersAreParked(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	hear(t, n, monday, "Ana", "Lena breeds grey parrots in Antwerp")
	hear(t, n, monday.Add(time.Minute), "Ana", "Rex snores like a tractor at night")
	breaks := llmtest.Func(func(r *llmtest.Request) string {
		if strings.Contains(r.Messages[0].Content, `"n":1,"at":"Mon 2026-03-02T09:00"`) {
			return `{"operations": [{"op": "ADD", "mess`
		}
		return answerOf(op{"quote": "Rex snores like a tractor", "text": "Rex snores like a tractor"})
	})
	s.Otherwise(breaks)
	done := find(t, n)
	if done.Parked != 1 || done.Messages != 1 || len(byModel(t, n)) != 1 {
		t.Fatalf("%+v", done)
	}
	left := waiting(t, n)
	if len(left) != 1 || left[0].Parked.IsZero() || !strings.Contains(left[0].Reason, "JSON") {
		t.Fatalf("%+v", left)
	}
	if u, err := n.Search(t.Context(), serve.SearchRequest{Query: "Lena grey parrots", Only: serve.OnlyUtterances}); err != nil || len(u.Hits) == 0 {
		t.Errorf("the line itself: %+v, %v", u, err)
	}
	if find(t, n).Messages != 0 {
		t.Error("what is parked is asked about again by itself")
	}
	parked, err := n.ParkedMessages(t.Context(), 10)
	if err != nil || len(parked) != 1 || parked[0].Text != "Lena breeds grey parrots in Antwerp" || parked[0].Reason == "" {
		t.Fatalf("%+v, %v", parked, err)
	}
	s.Otherwise(llmtest.Fenced(answerOf(op{"quote": "Lena breeds grey parrots", "text": "Lena breeds grey parrots"})))
	again, err := n.RetryParked(t.Context())
	if err != nil || again.Waiting != 1 || again.Parked != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if run, err := n.RunModel(t.Context()); err != nil || run.Messages != 1 || len(byModel(t, n)) != 2 || len(waiting(t, n)) != 0 {
		t.Errorf("%+v, %v, %v", run, err, waiting(t, n))
	}
}

// A server that is unreachable, busy or misconfigured does not cause anything
// to be parked: lines wait.
func TestUnavailableModelServerParksNothing(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	hear(t, n, monday, "Ana", "Lena breeds grey parrots in Antwerp")
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	release()
	for _, step := range []llmtest.Step{llmtest.Fails(429, "600", "slow down"), llmtest.Fails(401, "", "bad key"), llmtest.Fails(404, "", "no such model"), llmtest.Plain(502, "<html>bad gateway")} {
		s.Script(step, step, step)
		_, err := o.language.Finder().Drain(t.Context())
		s.Drop()
		if err == nil || o.language.Finder().Trouble() == "" {
			t.Errorf("no error")
		}
		if left := waiting(t, n); len(left) != 1 || !left[0].Parked.IsZero() {
			t.Errorf("%+v", left)
		}
	}
	st, err := n.Model(t.Context())
	if err != nil || st.Waiting != 1 || st.Trouble == "" || strings.Contains(fmt.Sprint(st), modelKey) {
		t.Errorf("%+v, %v", st, err)
	}
	find(t, n)
	if st, err = n.Model(t.Context()); err != nil || st.Waiting != 0 || st.Trouble != "" || st.PromptTokens == 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// A memory is forgotten while the model thinks: nothing that the model then
// says repeats it.
func TestForgottenDuringAModelRequest(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	hear(t, n, monday, "Ana", "Lena breeds grey parrots in Antwerp")
	hear(t, n, monday.Add(time.Minute), "Ana", "Rex snores like a tractor at night")
	came, goOn := make(chan struct{}), make(chan struct{})
	s.Script(llmtest.Holds(came, goOn, operations(op{"quote": "Lena breeds grey parrots", "text": "Lena breeds grey parrots"},
		op{"message": 2, "quote": "Rex snores like a tractor", "text": "Rex snores like a tractor, and Lena has parrots"})))
	done := make(chan distill.Done)
	go func() { done <- find(t, n) }()
	<-came
	plan, err := n.PlanForget(t.Context(), serve.ForgetSelection{Query: "parrots"})
	if err != nil || len(plan.Utterances) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := n.Forget(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if d := <-done; len(d.Changes) != 0 {
		t.Errorf("%+v", d)
	}
	if found := byModel(t, n); len(found) != 0 || len(waiting(t, n)) != 0 {
		t.Errorf("%+v, %+v", found, waiting(t, n))
	}
	all := s.Requests()
	if last := all[len(all)-1]; len(all) != 2 || strings.Contains(last.Body, "parrots") {
		t.Errorf("asked %d times, at last %s", len(all), last.Body)
	}
}

// What is waiting is on disk together with the line itself: a copy of the home
// at any moment, which is what a killed process leaves, contains it.
func TestWaitingLinesSurviveAKill(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	hear(t, n, monday, "Ana", "Lena breeds grey parrots in Antwerp")
	home := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(home, os.DirFS(n.cfg.Home)); err != nil {
		t.Fatal(err)
	}
	cfg := n.cfg
	cfg.Home = home
	again, err := Open(cfg, Options{Cache: compiled, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	s.Script(operations(op{"quote": "Lena breeds grey parrots", "text": "Lena breeds grey parrots"}))
	if done := find(t, again); done.Messages != 1 || len(byModel(t, again)) != 1 {
		t.Errorf("%+v", done)
	}
}

// What the model is shown: the wishes, who the wearer is, what was said before,
// and after a while a summary, which goes when anything is forgotten.
func TestModelInput(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	if err := n.SetInstructions(t.Context(), "Leave out everything about work."); err != nil {
		t.Fatal(err)
	}
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		if r.Format == "" {
			return "Ana talks about her shed."
		}
		return answerOf()
	}))
	for i := range 14 {
		hear(t, n, monday.Add(time.Duration(i)*time.Minute), "Ana", fmt.Sprintf("The shed number %d has a leaking roof", i))
	}
	find(t, n)
	hear(t, n, monday.Add(20*time.Minute), "Ana", "The ladder stands behind the shed")
	find(t, n)
	all := s.Requests()
	first, last := asked(t, all[0]), asked(t, all[len(all)-1])
	if len(first.Messages) != distill.MaxBatch || len(first.Earlier) != 0 || first.Wearer != "Ana" || first.Messages[1].N != 2 || !strings.HasSuffix(all[0].System, "Leave out everything about work.") {
		t.Errorf("%+v\n%s", first, all[0].System)
	}
	if len(last.Messages) != 1 || len(last.Earlier) == 0 || last.Summary != "Ana talks about her shed." {
		t.Errorf("%+v", last)
	}
	plan, err := n.PlanForget(t.Context(), serve.ForgetSelection{Query: "ladder"})
	if err == nil {
		_, err = n.Forget(t.Context(), plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	hear(t, n, monday.Add(25*time.Minute), "Ana", "The paint is in the shed as well")
	find(t, n)
	if all = s.Requests(); asked(t, all[len(all)-1]).Summary != "" {
		t.Error("the summary outlived what it is of")
	}
}

// Off by default: no model is asked, and nothing waits.
func TestNoModelNoTasks(t *testing.T) {
	n := newNode(t, nil)
	hear(t, n, monday, "Ana", "Lena breeds grey parrots in Antwerp")
	if left := waiting(t, n); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	st, err := n.Model(t.Context())
	if err != nil || st.URL != "" || st.Extract {
		t.Errorf("%+v, %v", st, err)
	}
}

// A daemon asks on its own some seconds after a line, and stops with the node.
func TestDaemonAsksByItself(t *testing.T) {
	t.Parallel()
	n, s := withModel(t, llmtest.Options{})
	s.Otherwise(operations(op{"quote": "Lena breeds grey parrots", "text": "Lena breeds grey parrots"}))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: "Lena breeds grey parrots in Antwerp", Speaker: "Ana"}); err != nil {
		t.Fatal(err)
	}
	for c, err := range n.Changes(t.Context(), 0, true) {
		if err != nil {
			t.Fatal(err)
		}
		if c.By.Plugin == distill.Plugin {
			break
		}
	}
	// The node is locked while a model thinks: nothing waits for the model's
	// answer.
	came := make(chan struct{})
	s.Otherwise(llmtest.Holds(came, nil, nil))
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: "Rex snores like a tractor at night", Speaker: "Ana"}); err != nil {
		t.Fatal(err)
	}
	<-came
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorReportsTheModel(t *testing.T) {
	n, s := withModel(t, llmtest.Options{})
	level := func() (level, detail string) {
		t.Helper()
		r, err := n.Doctor(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Check == "language model" {
				return f.Level, f.Detail
			}
		}
		return "", ""
	}
	if l, d := level(); l != serve.LevelOK || !strings.Contains(d, "answers") {
		t.Errorf("%s: %s", l, d)
	}
	n.cfg.LLM.Key = "wrong"
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	if l, d := level(); l != serve.LevelWarning || !strings.Contains(d, "401") || strings.Contains(d, modelKey) {
		t.Errorf("%s: %s", l, d)
	}
	if len(s.Requests()) != 0 {
		t.Error("doctor had the model say something, which costs tokens")
	}
}
