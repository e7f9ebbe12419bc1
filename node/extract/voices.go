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
	// Turns returns the turns of an utterance, in order and without a gap. It is empty
	// if voices are not told apart.
	Turns(device string, at time.Time, pcm []int16) []Voice
	// Save writes what Turns has learnt, in the transaction that commits the utterance.
	// OnSaved is called after that commit.
	Save(tx *store.Tx) error
	OnSaved()
}

// Voice is a turn of one voice in an utterance.
type Voice struct {
	From, To int    // samples
	Speaker  string // the wearer's name, another's, or a label such as S2
	Stranger bool   // the voice is not to be kept
}

// voices returns the turns of an utterance. If voices are not told apart, it is one turn
// of an unknown speaker.
func (x *Extractor) voices(device string, at time.Time, pcm []int16) []Voice {
	if x.cfg.Voices != nil {
		if turns := x.cfg.Voices.Turns(device, at, pcm); len(turns) > 0 {
			return turns
		}
	}
	return []Voice{{To: len(pcm)}}
}

// ofSomeone reports whether a fact is about an unnamed person ("someone"), or about
// somebody related to one. It may be another person each time, so one of these facts
// must not end another.
func ofSomeone(c *memory.Candidate) bool {
	of := func(who string) bool {
		who = strings.ToLower(who)
		return who == memory.Someone || strings.HasPrefix(who, memory.Someone+"'s ")
	}
	return c.Slot != nil && of(c.Slot.Subject) || c.Fields.Semantic != nil && of(c.Fields.Semantic.Subject)
}

// stranger records that the sound of a voice was not kept, because nobody enrolled or
// named it.
func (p *pending) stranger(plugin string, at time.Time, length time.Duration) {
	p.refusals = append(p.refusals, memory.Refusal{Event: p.event.ID, At: at, Plugin: plugin, Kind: memory.GapKind,
		Reason: fmt.Sprintf("%.1f s of a voice that nobody enrolled or named were not kept", length.Seconds())})
}

// attribute sets the speakers of the lines of a recording whose voice was recognised by
// its sound. If an engine hears several speakers, its names for them hold for this
// recording only: the one who says most gets the name of the voice, and the others
// become "someone". If only known voices are kept, what the others say is left out.
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
