package query

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// asksOfSelf finds questions about the wearer: "where do I live", 我住在哪里, or about something of the
// wearer's: "when is my birthday", but not "when is my sister's birthday".
var asksOfSelf = regexp.MustCompile(`(?i)\b(?:do|did|am|was|have|had|can|should|will|are|were)\s+(?:i|we)\b|\b(?:my|our)(?: [a-z]+){1,2}\W*$` +
	`|^(?:请问)?我们?(?:现在|目前|以前)?(?:不?喜欢|不?爱|讨厌|住|对|有|是|在|会|吃|开)|^(?:请问)?我的[^的]+$`)

// mayBeWearers reports whether a filter admits memories that belong to the wearer. If it does not,
// the request is for another user, who is then the one who asks.
func mayBeWearers(f filter.Filter) bool {
	for _, t := range memory.Types {
		if f.Glance(filter.Brief{Type: t, Plain: true}) != filter.No {
			return true
		}
	}
	return f.Glance(filter.Brief{Utterance: true}) == filter.Yes
}

// userOf returns the other user to whom a hit belongs. A hit that others share has none: for that
// see serve.SharedBy.
func userOf(h *serve.Hit) string {
	switch {
	case h.SharedBy != nil:
		return ""
	case h.Memory != nil:
		return memory.OtherUser(h.Memory.Owner.User)
	case h.Utterance != nil:
		return memory.OtherUser(h.Utterance.User)
	}
	return ""
}

// isOthers reports whether something can't answer a question of the wearer about themselves because
// it belongs to another user, whom the question does not name.
func isOthers(question, user string) bool { return user != "" && recall.Shared(question, user) == 0 }

// belongsToOther returns a check of whether a document belongs to another user, if the question is
// one of the wearer about themselves; otherwise nil.
func belongsToOther(question string) check {
	if !asksOfSelf.MatchString(question) {
		return nil
	}
	return func(d document) bool {
		switch {
		case d.u != nil:
			return isOthers(question, memory.OtherUser(d.u.User))
		case d.m != nil:
			return isOthers(question, memory.OtherUser(d.m.Owner.User))
		}
		return false
	}
}

// ownFirst puts facts about the wearer before the same kind of facts about somebody whom the
// question does not name: where the wearer lives before where an ex lives, or that the wearer hates
// coriander before that Tom likes it. If wearers is set, the question is about the wearer, and what
// belongs to other users comes last.
func ownFirst(question string, hits []serve.Hit, wearers bool) {
	if !asksOfSelf.MatchString(question) {
		return
	}
	if wearers {
		othersLast(question, hits)
	}
	slot := func(i int) *memory.Slot {
		if m := hits[i].Memory; m != nil && m.State == memory.Active {
			return m.Slot
		}
		return nil
	}
	isOwn := func(i int) bool {
		return memory.Normal(slot(i).Subject) == "user" && !(wearers && userOf(&hits[i]) != "")
	}
	for i := range hits {
		other := slot(i)
		if other == nil || isOwn(i) || recall.Shared(question, other.Subject) > 0 || recall.Shared(question, userOf(&hits[i])) > 0 {
			continue
		}
		for j := i + 1; j < len(hits); j++ {
			own := slot(j)
			if own == nil || !isOwn(j) || memory.Opposed(own.Attribute) != memory.Opposed(other.Attribute) ||
				own.Many && memory.SameValue(own.Value) != memory.SameValue(other.Value) {
				continue
			}
			h := hits[j]
			h.Score = hits[i].Score
			copy(hits[i+1:j+1], hits[i:j])
			hits[i] = h
			break
		}
	}
}

// asksWho finds questions about who somebody is, and the name in them: "who is Nils", 老王是谁.
var asksWho = lazily(`(?i)^(?:and |so )?who(?:['’]s| is| was) (\pL+(?: \pL+)?)\W*$|^(?:请问)?(\p{Han}{2,4}|[A-Za-z]+)是谁[？?]?$|^谁是(\p{Han}{2,4}|[A-Za-z]+)[？?]?$`)

// relationFirst puts somebody's relation to the wearer, or their job, before what else is known of
// them.
func relationFirst(question string, hits []serve.Hit) {
	m := asksWho().FindStringSubmatch(question)
	if m == nil {
		return
	}
	name := memory.Normal(cmp.Or(m[1], m[2], m[3]))
	beside := lazily(`(?i)\b` + partnerEn + `,? ` + name + `\b|` + partnerZh + name) // "my boss Nils is from Malmö"
	i := slices.IndexFunc(hits, func(h serve.Hit) bool {
		s := (*memory.Slot)(nil)
		if h.Memory != nil && h.Memory.State == memory.Active && !h.Memory.Negates {
			s = h.Memory.Slot
		}
		return s != nil && (memory.Normal(s.Value) == name && slices.Contains(h.Memory.Tags, "relation") || memory.Normal(s.Subject) == name && (s.Attribute == "job" || beside().MatchString(hans.Fold(h.Memory.Text))))
	})
	moveFirst(hits, i)
}

// othersLast moves hits that belong to other users behind the rest, and caps their scores
// accordingly.
func othersLast(question string, hits []serve.Hit) {
	own := slices.DeleteFunc(slices.Clone(hits), func(h serve.Hit) bool { return isOthers(question, userOf(&h)) })
	others := slices.DeleteFunc(slices.Clone(hits), func(h serve.Hit) bool { return !isOthers(question, userOf(&h)) })
	copy(hits, append(own, others...))
	for i := 1; i < len(hits); i++ {
		hits[i].Score = min(hits[i].Score, hits[i-1].Score)
	}
}
