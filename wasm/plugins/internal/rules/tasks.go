package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Bytes of a heading, and of what is before a task in its line: " - [ ] ".
const maxHeading, maxMarks = 80, 40

// toDos are headings of things to do.
var toDos = [...]string{"to do list", "todo list", "task list", "things to do", "to dos", "todos", "to do", "todo", "tasks"}

// taskVerbs are beginnings of things to do, besides [syntax.LemmaSet].
var taskVerbs = strings.Fields("renew check schedule print wash tidy vacuum mail post iron unsubscribe file sort refill charge ring remind update review")

// A line of a list of things to do is a plan of its author: "- [ ] Call the dentist", a line below
// "To do:" or 明天要做的. A ticked line is done, and gives nothing.

// headsTasks reports whether a line is a heading of things to do: "# Tasks", "To do tomorrow:",
// 周五要做的.
func headsTasks(t *discourse.Talk, line string) (discourse.Tasks, bool) {
	if len(line) > maxHeading {
		return discourse.Tasks{}, false
	}
	line = strings.Trim(line, " \t\r#*-_:：")
	for _, said := range toDosZh {
		if day, ok := strings.CutSuffix(line, said); ok && (day == "" || timex.Alone(day, t.Now)) {
			return discourse.Tasks{Listed: true, Day: day}, true
		}
	}
	line = strings.ToLower(strings.ReplaceAll(line, "-", " "))
	for _, said := range toDos {
		day, ok := strings.CutPrefix(strings.TrimPrefix(line, "my "), said)
		if day = strings.TrimSpace(day); ok && (day == "" || timex.Alone(day, t.Now)) {
			return discourse.Tasks{Listed: true, Day: day}, true
		}
	}
	return discourse.Tasks{}, false
}

// task takes a line of a list of things to do, and its heading. It reports whether the sentence is
// one.
func task(t *discourse.Talk, s syntax.Sentence) bool {
	from := max(0, s.Start-maxMarks)
	first := strings.LastIndexByte(s.Text[from:s.Start], '\n') + 1
	if first == 0 && from > 0 {
		return false // in the middle of a line
	}
	marks := strings.TrimSpace(s.Text[from+first : s.Start])
	if heading, ok := headsTasks(t, s.Raw()); ok {
		t.Tasks = heading
		return true
	}
	open := strings.HasPrefix(strings.TrimLeft(marks, "-*•+ "), "[ ]") || strings.HasPrefix(marks, "☐")
	if s.At(0) == "[" && s.At(1) == "x" && s.At(2) == "]" || strings.HasSuffix(marks, "☑") {
		t.Refuse("done", "a task that is ticked", s.Start, s.End)
		return true
	}
	if marks == "" {
		t.Tasks = discourse.Tasks{}
	}
	if !open && !t.Tasks.Listed || s.Ends == "?" || s.Ends == "？" {
		return false
	}
	if s.Chinese() {
		return len(s.Toks) > 2 && !strings.ContainsAny(s.Raw(), "我你您他她") && reread(t, s, "我得"+t.Tasks.Day+s.Raw())
	}
	base, past, ing := syntax.Lemma(s.At(0))
	if base == "" && !syntax.Determiner(s.At(1)) && !slices.Contains(taskVerbs, s.At(0)) || past || ing {
		return false
	}
	return reread(t, s, strings.TrimSpace("I have to "+s.At(0)+s.Text[s.Toks[0].End:s.End]+" "+t.Tasks.Day))
}

// datedList reports whether a numbered list has a line with a date: "1) Call mum on Friday". The
// steps of a procedure have none.
func datedList(t *discourse.Talk, toks []syntax.Token) bool {
	if len(toks) < 6 || toks[0].S != "1" || toks[1].S != ")" && toks[1].S != "." || !strings.Contains(t.Ev.Text[toks[0].Start:toks[len(toks)-1].End], "\n") {
		return false
	}
	for _, s := range syntax.Split(t.Ev.Text, toks) {
		for _, w := range timex.FindWhens(s, t.Now) {
			if w.HasDay && !w.Habit && (w.Weekday || w.Assumed > 0 || w.Clock) && s.At(w.First) != "until" {
				return true
			}
		}
	}
	return false
}

var toDosZh = [...]string{"待办清单", "待办事项", "任务清单", "要做的事情", "要做的事", "要做的", "待办", "任务"}
