package extract

import (
	"context"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// contextTurns is how many earlier turns a plugin may see.
const contextTurns = 8

// session is the current run of events: its name, the time of its last event, and its last
// turns, latest last.
type session struct {
	saved
	turns []turn
}

// saved is the part of a session that is kept on disk. When the session is loaded, later
// utterances move Last forward, so that not every line has to write it.
type saved struct {
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	Last  time.Time `json:"last"`
	Place string    `json:"place,omitempty"` // where the wearer is, by the last location with a name
	// Latest is the latest Last of earlier sessions: what is said may be older than they are, such as
	// an imported chat. Times in the future do not count.
	Latest time.Time `json:"latest,omitzero"`
}

const sessionMeta = "session"

// load reads the session that was under way when the node stopped.
func (s *session) load(ctx context.Context, e *engine.Engine) error {
	return e.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(sessionMeta, &s.saved); err != nil {
			return err
		}
		for u, err := range tx.Utterances(s.saved.Began, time.Time{}) {
			if err != nil {
				return err
			}
			if u.Session == s.saved.Name {
				if u.At.After(s.Last) {
					s.Last = u.At
				}
				s.appendTurn(turnOf(u))
			}
		}
		return nil
	})
}

// save writes the session, unless load would restore it from the stored session and what
// the event said. was is the session as the store has it, or nil if that is not known;
// save returns what the store has afterwards.
func (s *session) save(tx *store.Tx, was *saved, said []memory.Utterance) (*saved, error) {
	if was == nil {
		was = new(saved)
		if _, err := tx.Meta(sessionMeta, was); err != nil {
			return nil, err
		}
	}
	if was.Name == s.Name && was.Began.Equal(s.Began) && was.Place == s.Place &&
		slices.ContainsFunc(said, func(u memory.Utterance) bool { return u.Session == s.Name && u.At.Equal(s.Last) }) {
		return was, nil
	}
	now := s.saved
	return &now, tx.PutMeta(sessionMeta, now)
}

// join returns the session of something that happened at a time. After a silence it begins
// a new session.
func (s *session) join(at time.Time) string {
	if s.Name == "" || at.Sub(s.Last) > memory.SessionGap || s.Last.Sub(at) > memory.SessionGap {
		latest := s.Latest
		if s.Last.After(latest) && !s.Last.After(time.Now()) {
			latest = s.Last
		}
		s.saved = saved{Name: at.UTC().Format("20060102T150405Z"), Began: at, Last: at, Place: s.Place, Latest: latest}
		s.turns = nil
	}
	if at.Before(s.Began) {
		s.Began = at
	}
	if at.After(s.Last) {
		s.Last = at
	}
	return s.Name
}

func (s *session) appendTurn(t turn) {
	s.turns = append(s.turns, t)
	if len(s.turns) > contextTurns {
		s.turns = append(s.turns[:0], s.turns[len(s.turns)-contextTurns:]...)
	}
}

// before returns the turns for a plugin, and the same turns in the order in which spans
// count them: the event's own text first, then the latest turn, and so on backwards.
func (s *session) before(own turn) ([]abi.Turn, []turn) { return asBefore(s.turns, own) }

// beforeOfUser is before without what other users said: nobody's "no, on Friday" changes the
// appointment of another user of an app.
func (s *session) beforeOfUser(own turn) ([]abi.Turn, []turn) {
	return asBefore(ofUser(s.turns, own.user), own)
}

// ofUser returns the turns of one user.
func ofUser(turns []turn, user string) []turn {
	return slices.DeleteFunc(slices.Clone(turns), func(t turn) bool { return t.user != user })
}

func asBefore(turns []turn, own turn) ([]abi.Turn, []turn) {
	seen := make([]abi.Turn, len(turns))
	back := []turn{own}
	for i, t := range turns {
		seen[i] = abi.Turn{ID: t.event.String(), At: t.at.UnixMilli(), Speaker: t.speaker, Text: t.text}
	}
	for i := len(turns) - 1; i >= 0; i-- {
		back = append(back, turns[i])
	}
	return seen, back
}

// Latest returns the time of the latest event, or zero if there was none.
func (x *Extractor) Latest(*engine.Writer) time.Time {
	if s := &x.session; s.Latest.After(s.Last) {
		return s.Latest
	}
	return x.session.Last
}

// Around returns the wearer's last known place, and who has spoken in the current session.
func (x *Extractor) Around(*engine.Writer) (place string, people []string) {
	for _, t := range x.session.turns {
		if t.speaker != "" && !slices.Contains(people, t.speaker) {
			people = append(people, t.speaker)
		}
	}
	return x.session.Place, people
}

// Recent returns at most n of the last utterances in the current session, the latest last.
// It is empty before the first event.
func Recent(tx *store.Tx, n int) ([]memory.Utterance, error) {
	var now saved
	if ok, err := tx.Meta(sessionMeta, &now); err != nil || !ok {
		return nil, err
	}
	var out []memory.Utterance
	for u, err := range tx.Utterances(now.Began, time.Time{}) {
		if err != nil {
			return nil, err
		}
		if u.Session == now.Name {
			out = append(out, *u)
		}
	}
	return out[max(0, len(out)-n):], nil
}
