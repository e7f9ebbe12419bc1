package carry

import (
	"fmt"
	"strings"
	"time"
)

const (
	// told is how long losses are gathered before they are reported.
	told    = time.Second
	maxTold = 12 // runs that are named one by one
)

// Losses gathers losses, so that a bad link makes one gap event a second, not fifty.
type Losses struct {
	since  time.Time
	count  int
	runs   []string
	more   int
	others []string
}

// Run notes missing audio notifications: their number, and the first and last id.
func (l *Losses) Run(first, last, count int, at time.Time) {
	l.begin(at)
	l.count += count
	if len(l.runs) == maxTold {
		l.more++
		return
	}
	run := fmt.Sprint(first)
	if count > 1 {
		run = fmt.Sprintf("%d-%d", first, last)
	}
	l.runs = append(l.runs, run)
}

// Other notes another kind of loss, in words.
func (l *Losses) Other(text string, at time.Time) {
	l.begin(at)
	if len(l.others) < 4 {
		l.others = append(l.others, text)
	}
}

func (l *Losses) begin(at time.Time) {
	if l.since.IsZero() {
		l.since = at
	}
}

// due reports whether there is something to report by now.
func (l *Losses) due(now time.Time) bool { return !l.since.IsZero() && now.Sub(l.since) >= told }

// drain returns the text of a gap event, and resets the losses; empty: nothing was lost.
func (l *Losses) drain() (at time.Time, reason string) {
	var parts []string
	if l.count > 0 {
		s := fmt.Sprintf("%d audio notifications lost: %s", l.count, strings.Join(l.runs, " "))
		if l.more > 0 {
			s += fmt.Sprintf(" and %d more runs", l.more)
		}
		parts = append(parts, s)
	}
	at, reason = l.since, strings.Join(append(parts, l.others...), "; ")
	*l = Losses{}
	return at, reason
}
