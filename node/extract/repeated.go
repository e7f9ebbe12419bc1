package extract

import (
	"context"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// sameMoment is by how much two devices, or two runs of a recogniser, may differ in
// the time of the same line. A line of few words is a repetition only at exactly
// the same time, because people say "yes" twice.
const sameMoment = 5 * time.Second

// Of what two wearables hear of the same speech: their microphones differ, and so do a few of the
// words. A line of fewer words is the same only with all of them.
const (
	doubledWords = 7
	doubledPart  = .85 // of the later line's words
)

// repeated reports whether a line is there already under the name of another event:
// the same words by the same speaker at the same moment. So a day that is imported
// twice, or heard by two wearables, is one day. From another wearable a long line is the same if
// nearly all of its words are in the one that is there; the first to come stays.
func (x *Extractor) repeated(ctx context.Context, own *turn) (found bool, err error) {
	words := memory.Normal(own.text)
	within := sameMoment
	if !long(words) {
		within = 0
	}
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		// The index of times is to the millisecond.
		for u, err := range tx.Utterances(own.at.Add(-within), own.at.Add(within+time.Millisecond)) {
			if err != nil {
				return err
			}
			if u.ID != own.utterance && u.Event != own.event && sameSpeaker(u.Speaker, own.speaker) &&
				(memory.Normal(u.Text) == words || u.Event.Device != own.event.Device && doubled(memory.Normal(u.Text), words)) {
				found = true
				return nil
			}
		}
		return nil
	})
	return found, err
}

// sameSpeaker is also true if one speaker is not known: one device may know who
// speaks and the other not.
func sameSpeaker(a, b string) bool {
	return a == "" || b == "" || strings.EqualFold(a, b)
}

// doubled reports whether nearly all words of a folded line are in another one, each as often.
func doubled(there, line string) bool {
	words := strings.Fields(line)
	if len(words) < doubledWords {
		return false
	}
	left := map[string]int{}
	for _, w := range strings.Fields(there) {
		left[w]++
	}
	same := 0
	for _, w := range words {
		if left[w] > 0 {
			left[w]--
			same++
		}
	}
	return float64(same) >= doubledPart*float64(len(words))
}

// long reports whether a folded text has too many words to be said again by chance.
func long(normal string) bool {
	return len(strings.Fields(normal)) >= servedWords || len([]rune(normal)) >= 2*servedWords && !strings.Contains(normal, " ")
}
