package extract

import (
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Voices tells voices apart. It is called by whoever holds the engine's write lock.
type Voices interface {
	// Whose gives the turns of an utterance, in order and without a gap. It is empty
	// where voices are not told apart.
	Whose(device string, at time.Time, pcm []int16) []Voice
	// Save writes what Whose has learnt, in the transaction that commits the utterance.
	// Saved is called once that is committed.
	Save(tx *store.Tx) error
	Saved()
}

// Voice is a turn of one voice in an utterance.
type Voice struct {
	From, To int    // samples
	Speaker  string // the wearer's name, another's, or a label such as S2
	Stranger bool   // it is not to be kept
}

// voices gives the turns of an utterance: one, of no known speaker, where voices are not
// told apart.
func (x *Extractor) voices(device string, at time.Time, pcm []int16) []Voice {
	if x.cfg.Voices != nil {
		if turns := x.cfg.Voices.Whose(device, at, pcm); len(turns) > 0 {
			return turns
		}
	}
	return []Voice{{To: len(pcm)}}
}

// ofSomeone reports a fact about someone, or about somebody of theirs. It may be another
// person each time, so one of these facts must not end another.
func ofSomeone(c *memory.Candidate) bool {
	of := func(who string) bool {
		who = strings.ToLower(who)
		return who == memory.Someone || strings.HasPrefix(who, memory.Someone+"'s ")
	}
	return c.Slot != nil && of(c.Slot.Subject) || c.Fields.Semantic != nil && of(c.Fields.Semantic.Subject)
}

// stranger notes what was not kept of a voice that nobody enrolled or named.
func (p *pending) stranger(plugin string, at time.Time, length time.Duration) {
	p.refusals = append(p.refusals, memory.Refusal{Event: p.event.ID, At: at, Plugin: plugin, Kind: memory.GapKind,
		Reason: fmt.Sprintf("%.1f s of a voice that nobody enrolled or named were not kept", length.Seconds())})
}

// attribute says who said the lines of a recording whose voice is told by its sound. An
// engine that hears several speakers in it names them for this recording only: who says
// most is the voice, and another is someone. Where only known voices are kept, what
// another says is left out.
func (x *Extractor) attribute(p *pending, recording *memory.Memory, said []Spoken) []Spoken {
	who := recording.Evidence[0].Speaker
	if who == "" {
		return said
	}
	bytes := map[string]int{}
	most := ""
	for _, s := range said {
		if bytes[s.Speaker] += len(s.Text); bytes[s.Speaker] > bytes[most] {
			most = s.Speaker
		}
	}
	var out []Spoken
	for i, s := range said {
		switch {
		case s.Speaker == most:
			s.Speaker = who
		case x.cfg.KnownOnly:
			length := recording.TrueTo.Sub(recording.TrueFrom) - s.From
			if i+1 < len(said) {
				length = said[i+1].From - s.From
			}
			p.stranger("", recording.When().Add(s.From), max(length, 0))
			continue
		default:
			s.Speaker = memory.Someone
		}
		out = append(out, s)
	}
	return out
}
