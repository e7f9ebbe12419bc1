// Package questions answers on a wearable what its wearer asks there: after a press, or in a
// line that begins with the node's name. The answer is that of [serve.Recaller], and goes to
// the wearable that was asked, where it shows or speaks what it is told. It also knows which
// lines order the node to stop listening.
package questions

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/answer"
	"github.com/locket-dev/locket/node/serve"
)

const (
	// pressedFor is how long after a press what is said is a question.
	pressedFor = 15 * time.Second
	// before is by how much words may begin before the press: sound comes in pieces.
	before = 2 * time.Second
	// fresh is how old a question may be, by when it was said. A later answer is none.
	fresh = time.Minute
	// within bounds how long an answer takes.
	within = 30 * time.Second
	// shownLines is how many memories stand for an answer where there is no model.
	shownLines = 2
	// waiting is how many questions may wait; more are not answered.
	waiting = 16
)

// Fleet is the wearables; [intake.Intake] is one.
type Fleet interface {
	// Tells reports whether a wearable shows or speaks what it is told.
	Tells(device string) bool
	// Hears reports whether a wearable has a microphone, which is on.
	Hears(device string) bool
	// Say has it do so.
	Say(device, text string) error
}

// Config of Questions. All are needed.
type Config struct {
	Fleet  func() Fleet // as it is now; nil: there is none
	Ask    func(context.Context, serve.AskRequest) (serve.AskResult, error)
	Served func(at time.Time, texts ...string) // is given what was answered, so that the node does not learn from it
	Now    func() time.Time
	Log    *slog.Logger
}

// Questions answers. Its methods are safe for concurrent use.
type Questions struct {
	cfg  Config
	asks chan asked

	mu      sync.Mutex
	pressed map[string]time.Time // by wearable: when it was last pressed, and was asked nothing since
}

type asked struct {
	device, question string
	at               time.Time
	line             memory.ID // in which it was asked
	event            memory.EventID
}

// New makes them. Run answers.
func New(cfg Config) *Questions {
	return &Questions{cfg: cfg, asks: make(chan asked, waiting), pressed: map[string]time.Time{}}
}

// name is how a line begins that asks the node, in what engines make of "Hey Locket". A comma
// or a greeting has to be there: "Locket is nice" asks nothing.
var name = regexp.MustCompile(`(?i)^\W*(?:(?:hey|hi|hello|okay|ok),?\s+(?:locket|lockett|locked|lock it)\b|(?:locket|lockett)\s*[,:])[\s,.!:;-]*`)

// Question is what a line asks the node, without its name. ok: it speaks to the node; the
// question may then be empty, as it comes in the next line.
func Question(text string) (question string, ok bool) {
	at := name.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	return strings.TrimSpace(text[at[1]:]), true
}

// Heard is given each event that was committed, with its lines. It does not block.
func (q *Questions) Heard(ev *memory.Event, lines []memory.Utterance) {
	now := q.cfg.Now()
	device := ev.ID.Device
	if ev.Kind == memory.KindButton && len(ev.Values) == 1 && ev.Values[0] == 1 { // single
		q.press(device, ev.At)
	}
	for i := range lines {
		u := &lines[i]
		question, ok := Question(u.Text)
		if ok && question == "" {
			q.press(device, u.At)
			continue
		}
		// Another wearable may hear the words than the one that was pressed.
		to := q.take(u.At)
		if to == "" && !ok {
			continue
		}
		to = cmp.Or(to, device)
		if !ok {
			question = strings.TrimSpace(u.Text)
		}
		if question == "" || now.Sub(u.At) > fresh {
			continue
		}
		select {
		case q.asks <- asked{to, question, u.At, u.ID, ev.ID}:
		default:
			q.cfg.Log.Warn("questions: a question is not answered: too many wait", "device", to)
		}
	}
}

func (q *Questions) press(device string, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pressed[device] = at // wearables are few: they have credentials
}

// take gives the wearable that was pressed last before a line of a time, and forgets the press;
// empty: none was.
func (q *Questions) take(at time.Time) (device string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var last time.Time
	for name, pressed := range q.pressed {
		since := at.Sub(pressed)
		if since > pressedFor {
			delete(q.pressed, name)
		} else if since >= -before && (device == "" || pressed.After(last)) {
			device, last = name, pressed
		}
	}
	delete(q.pressed, device)
	return device
}

// Run answers, one question after the other, until ctx ends.
func (q *Questions) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-q.asks:
			if err := q.answer(ctx, a); err != nil && ctx.Err() == nil {
				q.cfg.Log.Warn("questions: a question could not be answered", "device", a.device, "error", err)
			}
		}
	}
}

func (q *Questions) answer(ctx context.Context, a asked) error {
	fleet := q.cfg.Fleet()
	if fleet == nil || !fleet.Tells(a.device) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := q.cfg.Ask(ctx, serve.AskRequest{Question: a.question, At: a.at, Filters: filter.Only(a.others)})
	if err != nil {
		return err
	}
	text := Spoken(&res)
	q.cfg.Served(q.cfg.Now(), text)
	return fleet.Say(a.device, text)
}

// others are all items but the question itself, which two wearables may have heard, what was
// made of it alone, and what is secret: an answer is shown or said where others are, and who has
// found a wearable can ask it.
func (a *asked) others(it *filter.Item) bool {
	if u := it.Utterance; u != nil {
		return u.ID != a.line && u.Event != a.event && !strings.Contains(memory.Normal(u.Text), memory.Normal(a.question))
	}
	if m := it.Memory; m.Type == memory.Vault || m.Fields.Vault != nil || m.Sensitivity >= memory.Secret {
		return false
	}
	for _, e := range it.Memory.Evidence {
		if e.Event != a.event {
			return true
		}
	}
	return len(it.Memory.Evidence) == 0
}

// Spoken is an answer as it is shown or spoken: without cites, and where no model cites what
// it is from, the best memories themselves.
func Spoken(r *serve.AskResult) string {
	if !r.Known {
		return answer.Unknown
	}
	if r.Answer != "" && r.Cited { // else it is not to be relied on
		a := answer.Answer{Text: r.Answer}
		return a.Plain()
	}
	var lines []string
	for _, it := range r.Evidence[:min(shownLines, len(r.Evidence))] {
		lines = append(lines, strings.Join(strings.Fields(it.Text), " "))
	}
	if len(lines) == 0 {
		return answer.Unknown
	}
	return strings.Join(lines, "\n")
}
