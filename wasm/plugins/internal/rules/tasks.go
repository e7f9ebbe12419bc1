package rules

import (
	"slices"
	"strings"
)

// A line of a list of things to do is a plan of the one who wrote it: "- [ ] Call the dentist", a
// line below "To do:" or 明天要做的. What is ticked is done, and gives nothing.

// tasks says what the lines after a heading are.
type tasks struct {
	listed bool   // things to do
	day    string // when, as the heading says it; "": it does not
}

// Bytes of a heading, and of what stands before a task in its line: "    - [ ] ".
const maxHeading, maxMarks = 80, 40

// toDos are what a heading calls things to do.
var (
	toDos   = [...]string{"to do list", "todo list", "task list", "things to do", "to dos", "todos", "to do", "todo", "tasks"}
	toDosZh = [...]string{"待办清单", "待办事项", "任务清单", "要做的事情", "要做的事", "要做的", "待办", "任务"}
)

// taskVerbs begin things to do, beside [lemmas].
var taskVerbs = strings.Fields("renew check schedule print wash tidy vacuum mail post iron unsubscribe file sort refill charge ring remind update review")

// headsTasks reports whether a line names things to do: "# Tasks", "To do tomorrow:", 周五要做的.
func (t *talk) headsTasks(line string) (tasks, bool) {
	if len(line) > maxHeading {
		return tasks{}, false
	}
	line = strings.Trim(line, " \t\r#*-_:：")
	for _, said := range toDosZh {
		if day, ok := strings.CutSuffix(line, said); ok && (day == "" || timeAlone(day, t.now)) {
			return tasks{true, day}, true
		}
	}
	line = strings.ToLower(strings.ReplaceAll(line, "-", " "))
	for _, said := range toDos {
		day, ok := strings.CutPrefix(strings.TrimPrefix(line, "my "), said)
		if day = strings.TrimSpace(day); ok && (day == "" || timeAlone(day, t.now)) {
			return tasks{true, day}, true
		}
	}
	return tasks{}, false
}

// task takes a line of a list of things to do, and its heading. It reports whether it is one.
func (t *talk) task(s sentence) bool {
	from := max(0, s.start-maxMarks)
	first := strings.LastIndexByte(s.text[from:s.start], '\n') + 1
	if first == 0 && from > 0 {
		return false // in the midst of a line
	}
	marks := strings.TrimSpace(s.text[from+first : s.start])
	if heading, ok := t.headsTasks(s.raw()); ok {
		t.tasks = heading
		return true
	}
	open := strings.HasPrefix(strings.TrimLeft(marks, "-*•+ "), "[ ]") || strings.HasPrefix(marks, "☐")
	if s.at(0) == "[" && s.at(1) == "x" && s.at(2) == "]" || strings.HasSuffix(marks, "☑") {
		t.refuse("done", "a task that is ticked", s.start, s.end)
		return true
	}
	if marks == "" {
		t.tasks = tasks{}
	}
	if !open && !t.tasks.listed || s.ends == "?" || s.ends == "？" {
		return false
	}
	if s.chinese() {
		return len(s.toks) > 2 && !strings.ContainsAny(s.raw(), "我你您他她") && t.says(s, "我得"+t.tasks.day+s.raw())
	}
	base, past, ing := lemma(s.at(0))
	if base == "" && !determiner(s.at(1)) && !slices.Contains(taskVerbs, s.at(0)) || past || ing {
		return false
	}
	return t.says(s, strings.TrimSpace("I have to "+s.at(0)+s.text[s.toks[0].end:s.end]+" "+t.tasks.day))
}

// datedList reports a numbered list with a line that names a date: "1) Call mum on Friday". The
// steps of how something is done name none.
func (t *talk) datedList(toks []token) bool {
	if len(toks) < 6 || toks[0].s != "1" || toks[1].s != ")" && toks[1].s != "." || !strings.Contains(t.ev.Text[toks[0].start:toks[len(toks)-1].end], "\n") {
		return false
	}
	for _, s := range split(t.ev.Text, toks) {
		for _, w := range findWhens(s, t.now) {
			if w.hasDay && !w.habit && (w.weekday || w.assumed > 0 || w.clock) && s.at(w.first) != "until" {
				return true
			}
		}
	}
	return false
}
