package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoTalks returns the test's conversation, and the same under another name and with other people.
func twoTalks(t *testing.T) []conversation {
	t.Helper()
	var out []conversation
	for _, name := range []string{"talk-1", "talk-2"} {
		c, err := readLocomo(talkFile)
		if err != nil {
			t.Fatal(err)
		}
		c[0].Name = name
		out = append(out, c[0])
	}
	for i := range out[1].Sessions {
		for j := range out[1].Sessions[i].Turns {
			out[1].Sessions[i].Turns[j].Speaker += "a"
		}
	}
	return out
}

func TestLeaveOneOut(t *testing.T) {
	r, err := leaveOneOut(t.Context(), twoTalks(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 5 || r.Conversations != 2 || r.Questions != 10 {
		t.Fatalf("%d rows of %d conversations, %d questions", len(r.Rows), r.Conversations, r.Questions)
	}
	for _, row := range r.Rows {
		if len(row.By) != 2 || row.Recall["all"]["25"] < 90 || row.Low["10"] > row.Recall["all"]["10"] || row.High["10"] < row.Recall["all"]["10"] {
			t.Errorf("%+v", row)
		}
	}
	for _, asJSON := range []bool{false, true} {
		var b strings.Builder
		if err := r.print(&b, asJSON); err != nil || !strings.Contains(b.String(), "plain sum") || json.Valid([]byte(b.String())) != asJSON {
			t.Errorf("%v: %s", err, &b)
		}
	}
}

// pets is a conversation whose first two turns contain a word related to the question besides the
// question's own word. The others do not. The evidence is these two turns, or the last four.
func pets(name string, puppies bool) conversation {
	c := conversation{Name: name}
	q := asked{Question: "pet", Category: 4}
	for i := range 24 {
		t := turn{ID: fmt.Sprintf("D%d:1", i+1), Speaker: "Ines", Text: "My pet puppy slept."}
		if i >= 2 {
			t.Text = "My pet stone slept."
		}
		if puppies && i < 2 || !puppies && i >= 20 {
			q.Evidence = append(q.Evidence, t.ID)
		}
		c.Sessions = append(c.Sessions, session{Name: fmt.Sprintf("session_%d", i+1), At: time.Date(2024, 3, 3+i, 9, 0, 0, 0, time.UTC), Turns: []turn{t}})
	}
	c.Asked = []asked{q}
	return c
}

// What is chosen for a conversation stays the same whatever is asked of it.
func TestLeftOutConversationHasNoInfluence(t *testing.T) {
	chosen := func(c ...conversation) (first, second map[string]any) {
		r, err := leaveOneOut(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		first, second = map[string]any{}, map[string]any{}
		for _, row := range r.Rows {
			first[row.Name], second[row.Name] = row.Weights["one"], row.Weights["two"]
		}
		return first, second
	}
	one, two := chosen(pets("one", true), pets("two", true))
	oneThen, twoThen := chosen(pets("one", false), pets("two", true))
	if !reflect.DeepEqual(one, oneThen) {
		t.Errorf("the choice for conversation one is %+v, and %+v once its answers differ", one, oneThen)
	}
	if reflect.DeepEqual(two, twoThen) {
		t.Error("one had no part in what is chosen for two either: the test shows nothing")
	}
}

func TestPickConversations(t *testing.T) {
	talks := twoTalks(t)
	got, err := pick(talks, "talk-2")
	if err != nil || len(got) != 1 || got[0].Name != "talk-2" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := pick(talks, "talk-2,talk-9"); err == nil || !strings.Contains(err.Error(), "talk-9") {
		t.Errorf("%v", err)
	}
	if all, err := pick(talks, ""); err != nil || !slices.Equal([]string{all[0].Name, all[1].Name}, []string{"talk-1", "talk-2"}) {
		t.Errorf("%v", err)
	}
	if code, _, stderr := bench(t, "locomo", "--data", talkFile, "--leave-one-out"); code != 1 || !strings.Contains(stderr, "two are needed") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, _, _ := bench(t, "locomo", "--data", talkFile, "--leave-one-out", "--ablate"); code != 2 {
		t.Errorf("exit %d", code)
	}
}

func TestLocomoPerturbed(t *testing.T) {
	code, stdout, stderr := bench(t, "locomo", "--data", talkFile, "--perturb")
	if code != 0 || strings.Count(stdout, "\n") < 11 || !strings.Contains(stdout, "two letters swapped") {
		t.Fatalf("exit %d, %s%s", code, stdout, stderr)
	}
	if code, stdout, _ := bench(t, "locomo", "--data", talkFile, "--perturb", "--json"); code != 0 || !strings.Contains(stdout, `"way":"capitals"`) {
		t.Errorf("exit %d, %s", code, stdout)
	}
}
