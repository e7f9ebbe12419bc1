package edit

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// planner is the extractor of plans; the wearer may have disabled it.
const planner = "plans"

// longestTask is how long a typed task may be, in bytes. A longer text says more than one thing.
const longestTask = 200

// tasks are verbs that begin a task and that the extractors do not refuse as a command.
var tasks = strings.Fields("apply arrange book clean collect confirm cook drop email exchange feed finish fix invite meet order organise organize pack pay pick prepare " +
	"register renew repair replace reply return schedule sign submit transfer visit wait wash water")

// asNoteToSelf reads what the wearer typed as a note to themselves: "Call Mum on Wednesday at 9" is a plan
// for Wednesday. Extractors refuse it as a command, because aloud it asks somebody else. If it is one
// plan with a time after "remind me to", asNoteToSelf sets the type, the text and the fields of r to that
// plan. Otherwise r stays as it is. Chinese plans need no such help, because they have no form of
// their own for a command.
func (es *Edits) asNoteToSelf(ctx context.Context, r *serve.AddRequest, refusals []memory.Refusal) error {
	task := strings.TrimSpace(r.Text)
	if rest, ok := cutFold(task, "please "); ok {
		task = strings.TrimSpace(rest)
	}
	words := strings.Fields(strings.ToLower(task))
	if len(words) < 2 || len(task) > longestTask || strings.ContainsRune(task, '\n') || words[1] == "me" { // "tell me" asks an assistant
		return nil
	}
	commands := slices.ContainsFunc(refusals, func(no memory.Refusal) bool { return no.Kind == "command" })
	if first := task[0]; first >= utf8.RuneSelf || !commands && !slices.Contains(tasks, words[0]) {
		return nil
	}
	found, err := es.plan(ctx, "remind me to "+strings.ToLower(task[:1])+task[1:])
	if err == nil && found != nil {
		r.Type, r.Text, r.Fields = found.Type, found.Text, found.Fields
	}
	return err
}

// cutFold is [strings.CutPrefix] without regard to case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// plan returns the only thing that the extractor of plans reads in a text, if it is an event with a
// time, or else nil.
func (es *Edits) plan(ctx context.Context, text string) (*serve.AddRequest, error) {
	lock := es.c.Engine.AcquireWriter()
	defer lock.Release()
	tried, err := es.c.Chain.Try(ctx, planner, text)
	if err != nil || len(tried.Out.Candidates) != 1 {
		return nil, ctx.Err() // it fails, or is off by now
	}
	c := &tried.Out.Candidates[0]
	if memory.Type(c.Type) != memory.Episodic || c.Started == 0 || c.Negates {
		return nil, nil
	}
	return &serve.AddRequest{Type: memory.Episodic, Text: c.Text, Fields: memory.Fields{Episodic: &memory.EpisodicFields{EventType: c.EventType, Details: c.Details,
		Actor: c.Actor, Place: c.Place, Started: extract.FromMillis(c.Started), Ended: extract.FromMillis(c.Ended)}}}, nil
}
