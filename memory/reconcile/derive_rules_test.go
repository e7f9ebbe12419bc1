package reconcile

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// genGroup generates histories of a few members about a few memories of one slot.
func genGroup(t *rapid.T) []memory.Assertion {
	s := new(script)
	for range rapid.IntRange(1, 14).Draw(t, "n") {
		member := rapid.SampledFrom([]byte{1, 2, 3}).Draw(t, "member")
		id := rapid.SampledFrom([]byte{1, 2, 3, 4}).Draw(t, "memory")
		hours := rapid.IntRange(0, 5).Draw(t, "hours")
		rank := rapid.SampledFrom([]memory.Rank{memory.RankCloud, memory.RankDevice, memory.RankPerson}).Draw(t, "rank")
		act := rapid.SampledFrom([]memory.Act{memory.ActPropose, memory.ActPropose, memory.ActPropose, memory.ActPin, memory.ActUnpin, memory.ActArchive,
			memory.ActRestore, memory.ActCorrect, memory.ActReinforce, memory.ActTag, memory.ActUntag, memory.ActErase, memory.ActClose, memory.ActWithdraw}).Draw(t, "act")
		city := rapid.SampledFrom([]string{"Beijing", "Shanghai", "Rome"}).Draw(t, "city")
		s.say(member, hours, rank, id, act, func(a *memory.Assertion) {
			if rank == memory.RankPerson && rapid.Bool().Draw(t, "settles") {
				settles(a)
			}
			switch act {
			case memory.ActPropose:
				home(city, rapid.IntRange(0, 5).Draw(t, "from"), rapid.IntRange(0, 4).Draw(t, "negates") == 0)(a)
			case memory.ActCorrect:
				a.Patch = &memory.Patch{Value: &city}
				if rapid.Bool().Draw(t, "and text") {
					a.Patch.Text = &city
				}
			case memory.ActClose:
				a.Patch = &memory.Patch{Validity: &memory.Validity{To: day0.Add(time.Hour)}}
			case memory.ActTag, memory.ActUntag:
				a.Tags = []string{city}
			case memory.ActWithdraw:
				if n := len(s.as); n > 0 {
					a.Seen = []memory.Dot{s.as[rapid.IntRange(0, n-1).Draw(t, "of")].Dot}
				}
			case memory.ActReinforce:
				a.Evidence = []memory.Evidence{{At: day0, Excerpt: city}}
			}
			if rapid.Bool().Draw(t, "knew") {
				a.Seen = Overrules(s.as, a)
			}
			if act == memory.ActErase {
				a.Rank = memory.RankPerson
			}
		})
	}
	return s.as
}

func TestDeriveIsAFunctionOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as := genGroup(t)
		want := text(Derive(as))
		mixed := rapid.Permutation(as).Draw(t, "order")
		mixed = append(mixed, mixed[:rapid.IntRange(0, len(mixed)).Draw(t, "again")]...)
		if got := text(Derive(mixed)); got != want {
			t.Fatalf("order or repetition changed the outcome:\n%s\n%s", want, got)
		}
	})
}

func TestDeriveKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as := genGroup(t)
		var active, pinned, persons, workers int
		erased := map[memory.ID]bool{}
		for _, a := range as {
			if a.Act == memory.ActErase {
				erased[a.Memory] = true
			}
		}
		for _, m := range Derive(as) {
			if erased[m.ID] && (m.State != memory.Erased || m.Text != "" || m.Heard != 0) {
				t.Fatalf("erased, and there: %+v", m)
			}
			if m.State == memory.Active {
				active++
				if m.Pinned {
					pinned++
				}
				switch m.Rank {
				case memory.RankPerson:
					persons++
				case memory.RankCloud:
					workers++
				}
				if m.Negates {
					t.Fatalf("a negation is shown: %+v", m)
				}
			}
			if !m.TrueTo.IsZero() && m.TrueTo.Before(m.TrueFrom) {
				t.Fatalf("ends before it begins: %v to %v", m.TrueFrom, m.TrueTo)
			}
		}
		beside := active == 2 && persons == 1 && workers == 1 // a person's statement, and what only workers say against it
		if active > 1 && pinned == 0 && !beside {
			t.Fatalf("%d values of a single-valued slot at a time: %s\n%s", active, view(Derive(as)), text(Derive(as)))
		}
	})
}

func text(ms []memory.Memory) string {
	b, err := json.Marshal(ms)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
