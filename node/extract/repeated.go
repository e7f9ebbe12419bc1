package extract

import (
	"context"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// sameMoment is by how much two devices, or two runs of a recogniser, may differ in the time of
// the same line. A line of few words counts as a repetition only at exactly the same time,
// because people say "yes" twice.
const sameMoment = 5 * time.Second

// Two wearables hear the same speech with different microphones, so a few of the words differ. A
// line with fewer than doubledWords words counts as the same only if all words are.
const (
	doubledWords = 7
	doubledPart  = .85 // of the later line's words
)

// repeated reports whether a line is stored already under another event: the same words by the
// same speaker at the same moment. So a day that is imported twice, or heard by two wearables, is
// stored once. A long line from another wearable also counts as the same if nearly all of its
// words are in the stored line; the line that came first stays. What is kept for another user, agent
// or run is another line.
func (x *Extractor) repeated(ctx context.Context, own *turn, ev *memory.Event) (found bool, err error) {
	words := memory.Normal(own.text)
	within := sameMoment
	if !long(words) {
		within = 0
	}
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		// The index of times has a resolution of a millisecond.
		for u, err := range tx.Utterances(own.at.Add(-within), own.at.Add(within+time.Millisecond)) {
			if err != nil {
				return err
			}
			if u.ID != own.utterance && u.Event != own.event && memory.OtherUser(u.User) == memory.OtherUser(ev.User) && u.Agent == ev.Agent && u.Run == ev.Run && sameSpeaker(u.Speaker, own.speaker) &&
				(memory.Normal(u.Text) == words || u.Event.Device != own.event.Device && doubled(memory.Normal(u.Text), words)) {
				found = true
				return nil
			}
		}
		return nil
	})
	return found, err
}

// sameSpeaker is also true if one of the speakers is unknown: one device may know who speaks and
// the other may not.
func sameSpeaker(a, b string) bool {
	return a == "" || b == "" || strings.EqualFold(a, b)
}

// doubled reports whether nearly all words of a normalised line are in another one, each as
// often.
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

// long reports whether a normalised text has too many words to be said again by chance.
func long(normal string) bool {
	return len(strings.Fields(normal)) >= servedWords || len([]rune(normal)) >= 2*servedWords && !strings.Contains(normal, " ")
}
