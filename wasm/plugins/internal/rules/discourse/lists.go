package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// apartLists gives each value of a list its own statement: "Mei likes apples and pears" gives one
// memory that she likes apples and one that she likes pears, so that no two are the same and each
// can end by itself. The original words stay in their details. Members that mean something else
// without each other stay one value.
func apartLists(all []abi.Candidate) []abi.Candidate {
	kept := all[:0]
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && oneList(&all[i], &all[k]) {
			k++
		}
		list := joinList(all[i:k])
		if len(list) > 1 {
			apartList(list)
		}
		kept = append(kept, list...)
		i = k
	}
	return kept
}

// setPhrases are lists that name one thing.
var setPhrases = map[string]bool{
	"arts and crafts": true, "bacon and eggs": true, "bangers and mash": true, "biscuits and gravy": true, "black and white": true, "bread and butter": true,
	"cheese and onion": true, "chicken and waffles": true, "cookies and cream": true, "country and western": true, "drum and bass": true, "dungeons and dragons": true,
	"fish and chips": true, "gin and tonic": true, "ham and cheese": true, "ham and eggs": true, "mac and cheese": true, "macaroni and cheese": true,
	"peanut butter and jelly": true, "pie and mash": true, "rhythm and blues": true, "rice and beans": true, "rock and roll": true, "rum and coke": true,
	"salt and pepper": true, "salt and vinegar": true, "strawberries and cream": true, "surf and turf": true, "sweet and sour": true,
}

// joinList makes one candidate from the members of a list of tastes that are one thing: a set
// phrase, or words that share the last noun, as in "red and white wine". After a plural ("apples
// and ice cream"), nothing is shared.
func joinList(list []abi.Candidate) []abi.Candidate {
	if len(list) < 2 || list[0].Kind != "preference" {
		return list
	}
	said, last, shares := list[0].Text, list[len(list)-1].Slot.Value, true
	for _, c := range list[:len(list)-1] {
		v := c.Slot.Value
		shares = shares && len(strings.Fields(v)) < len(strings.Fields(last)) && (!strings.HasSuffix(v, "s") || strings.HasSuffix(v, "ss"))
	}
	if v, ok := spanned(said, list[0].Slot.Value, last); ok && shares && len(v) <= MaxName {
		return joined(list[:1], v)
	}
	kept := list[:1]
	for _, c := range list[1:] {
		before := &kept[len(kept)-1]
		if v, ok := spanned(said, before.Slot.Value, c.Slot.Value); ok && setPhrases[strings.ToLower(v)] {
			joined(kept[len(kept)-1:], v)
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// joined gives the candidate of a list a value of several members.
func joined(one []abi.Candidate, value string) []abi.Candidate {
	one[0].Slot.Value, one[0].Object = value, value
	return one
}

// spanned returns the part of a statement from one value to another.
func spanned(said, first, last string) (string, bool) {
	i := strings.Index(said, first)
	if i < 0 {
		return "", false
	}
	k := strings.Index(said[i+len(first):], last)
	if k < 0 {
		return "", false
	}
	return said[i : i+len(first)+k+len(last)], true
}

func oneList(a, b *abi.Candidate) bool {
	return a.Slot != nil && b.Slot != nil && a.Slot.Many && a.Text == b.Text && a.Type == b.Type && a.Negates == b.Negates &&
		a.Slot.Subject == b.Slot.Subject && a.Slot.Attribute == b.Slot.Attribute && a.Slot.Value != b.Slot.Value
}

// apartList splits a statement if its values follow each other in it, with nothing but marks,
// conjunctions and articles between them.
func apartList(list []abi.Candidate) {
	said := list[0].Text
	type part struct{ start, end int } // bytes of said, with the article
	parts := make([]part, len(list))
	at := 0
	for i := range list {
		v := list[i].Slot.Value
		n := strings.Index(said[at:], v)
		if v == "" || n < 0 {
			return
		}
		p := part{at + n, at + n + len(v)}
		for _, article := range [...]string{"a ", "an ", "the ", "some ", "my "} {
			if strings.HasSuffix(said[:p.start], " "+article) {
				p.start -= len(article)
			}
		}
		if i > 0 && !conjoined(said[parts[i-1].end:p.start]) {
			if p.start = parts[i-1].end + called(said[parts[i-1].end:p.start]); p.start == parts[i-1].end {
				return
			}
			if i == 1 { // "a dog called Rex and a cat called Minka": as many words before the first
				if parts[0].start = wordsBack(said, parts[0].start, len(strings.Fields(said[p.start:at+n]))); parts[0].start < 0 {
					return
				}
			}
		}
		parts[i], at = p, p.end
	}
	head, tail := said[:parts[0].start], said[parts[len(parts)-1].end:]
	for i, p := range parts {
		list[i].Text = head + said[p.start:p.end] + tail
		if list[i].Details == "" {
			list[i].Details = said
		}
	}
}

// conjoined reports whether text only joins two members of a list.
func conjoined(s string) bool {
	switch strings.TrimSpace(strings.Trim(s, " ,，、")) {
	case "", "to", "and", "and to", "or", "和", "跟", "与", "及", "以及", "还有", "或":
		return true
	}
	return false
}

// called returns where " and a cat called " says what the next member is; 0 if it is nothing of the
// kind.
func called(between string) int {
	for _, and := range [...]string{" and ", ", and ", ", "} {
		if rest, ok := strings.CutPrefix(between, and); ok && (strings.HasSuffix(rest, " called ") || strings.HasSuffix(rest, " named ")) && len(strings.Fields(rest)) <= 4 {
			return len(and)
		}
	}
	return 0
}

// wordsBack returns where the n words before byte i begin; -1 if there are fewer.
func wordsBack(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		i = strings.LastIndexByte(strings.TrimRight(s[:i], " "), ' ') + 1
	}
	if n > 0 {
		return -1
	}
	return i
}
