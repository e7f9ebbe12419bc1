package noted

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// state returns [timex.PresentState] for the word at i.
func (v *view) state(i int) bool {
	return i > 0 && timex.PresentState(v.words[i-1]) || i > 1 && timex.PresentState(v.words[i-1], v.words[i-2])
}

// lasts reports whether a sentence has a time until which something lasts.
func (v *view) lasts(now timex.Moment) bool {
	for i := range v.whens {
		if w := &v.whens[i]; !w.Habit && w.Day > now.Day && timex.Until(&v.s, w) {
			return true
		}
	}
	return false
}

// dayOf returns the day that the sentence names for what began at started, in ms since 1970. It has
// none if the sentence names a week, a month or a year.
func dayOf(t *discourse.Talk, started int64) timex.When {
	day := timex.MomentOf(started, t.Now.Offset).Day
	for _, w := range timex.FindWhens(t.Said, t.Now) {
		if started > 0 && w.Day == day && discourse.OneDay(&w) {
			return w
		}
	}
	return timex.When{}
}

// thisYear reports whether a time is the whole of this year, which has no day.
func thisYear(t *discourse.Talk, w *timex.When) bool {
	y, _, _ := timex.Date(w.Day)
	now, _, _ := timex.Date(t.Now.Day)
	return w.Grain == 'y' && y == now
}

// ToldAt returns the time of something that a sentence tells without a day: the time at which it
// was told, or 0 if the sentence names a day that can't be read.
func ToldAt(t *discourse.Talk, s syntax.Sentence) int64 {
	if timex.AnyTime(s, t.Now, func(w *timex.When) bool { return w.HasDay && w.Void }) {
		return 0
	}
	return t.Ev.At
}
