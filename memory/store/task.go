package store

import (
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Task says that something still has to be done with an utterance, outside of
// its event's transaction. It contains no words, and is removed with its
// utterance.
type Task struct {
	Utterance memory.ID `json:"utterance"`
	At        time.Time `json:"at"` // of the utterance; tasks are ordered by it
	Session   string    `json:"session"`
	Tries     int       `json:"tries,omitempty"`
	Parked    time.Time `json:"parked,omitzero"` // not tried again until somebody requests it
	Reason    string    `json:"reason,omitempty"`
}

func taskKey(at time.Time, id memory.ID) []byte { return keyOf(kindTask, timeKey(at), id[:]) }

// PutTask stores a task, and replaces the one of the same utterance.
func (t *Tx) PutTask(k Task) error {
	if k.Utterance.IsZero() {
		return fmt.Errorf("%w: task: no utterance", memory.ErrInvalid)
	}
	return t.save(taskKey(k.At, k.Utterance), k)
}

// DropTask removes a finished task. If there is none, it returns nil.
func (t *Tx) DropTask(k Task) error { return t.del(taskKey(k.At, k.Utterance)) }

// Tasks returns all tasks, those of the oldest utterances first.
func (t *Tx) Tasks() iter.Seq2[Task, error] {
	return under[Task](t, keyOf(kindTask))
}

// Summary is a text that was made of many utterances together. Nobody can tell
// which of its words come from which. It is therefore removed as soon as one
// utterance or memory is forgotten, or the text of one changes.
type Summary struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	Of      int    `json:"of"`    // number of utterances that it was made of
	Since   int    `json:"since"` // number of utterances that came after it
}

const summaryMeta = "summary of the session"

// PutSummary stores the only summary.
func (t *Tx) PutSummary(s Summary) error { return t.PutMeta(summaryMeta, s) }

// Summary returns the summary, or the zero value if there is none.
func (t *Tx) Summary() (s Summary, err error) {
	_, err = t.Meta(summaryMeta, &s)
	return s, err
}

func (t *Tx) dropSummary() error { return t.DeleteMeta(summaryMeta) }
