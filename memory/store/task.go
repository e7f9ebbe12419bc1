package store

import (
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Task says that something is still to be done with an utterance, apart from
// the event's own transaction: it holds no words, and goes with its utterance.
type Task struct {
	Utterance memory.ID `json:"utterance"`
	At        time.Time `json:"at"` // of the utterance; tasks are in its order
	Session   string    `json:"session"`
	Tries     int       `json:"tries,omitempty"`
	Parked    time.Time `json:"parked,omitzero"` // given up until somebody asks for it again
	Reason    string    `json:"reason,omitempty"`
}

func taskKey(at time.Time, id memory.ID) []byte { return keyOf(kindTask, timeKey(at), id[:]) }

// PutTask keeps a task, or replaces the one of its utterance.
func (t *Tx) PutTask(k Task) error {
	if k.Utterance.IsZero() {
		return fmt.Errorf("%w: task: no utterance", memory.ErrInvalid)
	}
	return t.save(taskKey(k.At, k.Utterance), k)
}

// DropTask removes a task that is done; none there is no error.
func (t *Tx) DropTask(k Task) error { return t.del(taskKey(k.At, k.Utterance)) }

// Tasks gives all, those of the oldest utterances first.
func (t *Tx) Tasks() iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for e, err := range t.scan(keyOf(kindTask), nil, false) {
			var k Task
			if err == nil {
				k, err = decode[Task](e.key, e.plain)
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// Summary is a text that was made of many utterances at once. Which of its
// words are from which, nobody can tell: so it goes as soon as one utterance
// or memory is forgotten, or the text of one is changed.
type Summary struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	Of      int    `json:"of"`    // how many utterances it is of
	Since   int    `json:"since"` // how many came after it
}

const summaryMeta = "summary of the session"

// PutSummary keeps the one summary there is.
func (t *Tx) PutSummary(s Summary) error { return t.PutMeta(summaryMeta, s) }

// Summary gives it; the zero value where there is none.
func (t *Tx) Summary() (s Summary, err error) {
	_, err = t.Meta(summaryMeta, &s)
	return s, err
}

func (t *Tx) dropSummary() error { return t.DeleteMeta(summaryMeta) }
