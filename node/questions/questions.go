// Package questions answers questions that the wearer asks a wearable: after a press, or in a
// line that begins with the node's name. The answer is that of [serve.Recaller], and is sent to
// the wearable that was asked, if it can show or speak it. The package also recognises lines
// that order the node to stop listening.
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
	// pressedFor is how long after a press a line counts as a question.
	pressedFor = 15 * time.Second
	// before is how long before the press the line may have begun, because sound comes in
	// pieces.
	before = 2 * time.Second
	// fresh is the maximum age of a question. A later answer is useless.
	fresh = time.Minute
	// within bounds how long an answer takes.
	within = 30 * time.Second
	// shownLines is how many memories are shown as an answer if there is no model.
	shownLines = 2
	// waiting is how many questions may wait; more are not answered.
	waiting = 16
)

// Fleet provides the wearables; [intake.Intake] is one.
type Fleet interface {
	// CanAnswer reports whether a wearable can show or speak an answer.
	CanAnswer(device string) bool
	// HasMicrophone reports whether a wearable has a microphone that is on.
	HasMicrophone(device string) bool
	// Say makes it show or speak a text.
	Say(device, text string) error
}

// Config is what Questions need. All fields are required.
type Config struct {
	Fleet    func() Fleet // returns the present fleet; nil: there is none
	Ask      func(context.Context, serve.AskRequest) (serve.AskResult, error)
	OnServed func(at time.Time, texts ...string) // called with what was answered, so that the node does not learn from it
	Now      func() time.Time
	Log      *slog.Logger
}

// Questions answers questions. Its methods are safe for concurrent use.
type Questions struct {
	cfg  Config
	asks chan asked

	mu      sync.Mutex
	pressed map[string]time.Time // by wearable: when it was last pressed without a question since
}

type asked struct {
	device, question string
	at               time.Time
	line             memory.ID // in which the question was asked
	event            memory.EventID
}

// New makes Questions. Run answers.
func New(cfg Config) *Questions {
	return &Questions{cfg: cfg, asks: make(chan asked, waiting), pressed: map[string]time.Time{}}
}

// name matches the beginning of a line that asks the node, in the forms that engines make of
// "Hey Locket". A comma or a greeting is required: "Locket is nice" is not a question.
var name = regexp.MustCompile(`(?i)^\W*(?:(?:hey|hi|hello|okay|ok),?\s+(?:locket|lockett|locked|lock it)\b|(?:locket|lockett)\s*[,:])[\s,.!:;-]*`)

// question returns what a line asks the node, without its name. ok reports that it addresses the
// node; the question may then be empty, because it comes in the next line.
func question(text string) (question string, ok bool) {
	at := name.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	return strings.TrimSpace(text[at[1]:]), true
}

// OnCommitted is called with each event that was committed, with its lines. It does not block.
func (q *Questions) OnCommitted(ev *memory.Event, lines []memory.Utterance) {
	now := q.cfg.Now()
	device := ev.ID.Device
	if ev.Kind == memory.KindButton && len(ev.Values) == 1 && ev.Values[0] == 1 { // single
		q.press(device, ev.At)
	}
	for i := range lines {
		u := &lines[i]
		question, ok := question(u.Text)
		if ok && question == "" {
			q.press(device, u.At)
			continue
		}
		// Another wearable than the one that was pressed may hear the words.
		to := q.popPress(u.At)
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
	q.pressed[device] = at // the map stays small, because wearables need credentials
}

// popPress returns the wearable that was pressed last before the time of a line, and forgets the
// press; empty: none was.
func (q *Questions) popPress(at time.Time) (device string) {
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

// Run answers questions, one after the other, until ctx ends.
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
	if fleet == nil || !fleet.CanAnswer(a.device) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := q.cfg.Ask(ctx, serve.AskRequest{Question: a.question, At: a.at, Filters: filter.Only(a.others)})
	if err != nil {
		return err
	}
	text := SpokenText(&res)
	q.cfg.OnServed(q.cfg.Now(), text)
	return fleet.Say(a.device, text)
}

// others selects the items for an answer. It leaves out the question itself, which two wearables
// may have heard, and what was made only from it. It also leaves out what is secret: an answer
// is shown or spoken where other people are, and anybody who has found a wearable can ask it.
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

// SpokenText returns an answer in the form in which it is shown or spoken: without citations. If no
// model gave an answer with sources, it is the best memories themselves.
func SpokenText(r *serve.AskResult) string {
	if !r.Known {
		return answer.Unknown
	}
	if r.Answer != "" && r.Cited { // otherwise the answer can't be relied on
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
