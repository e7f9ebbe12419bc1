package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// apartLists gives each value of a list the statement of its own: of "Mei likes apples
// and pears" one memory says that she likes apples and one that she likes pears, so that
// no two read the same and each can end by itself. What was said stays in their details.
func apartLists(all []abi.Candidate) {
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && oneList(&all[i], &all[k]) {
			k++
		}
		if k-i > 1 {
			apartList(all[i:k])
		}
		i = k
	}
}

func oneList(a, b *abi.Candidate) bool {
	return a.Slot != nil && b.Slot != nil && a.Slot.Many && a.Text == b.Text && a.Type == b.Type && a.Negates == b.Negates &&
		a.Slot.Subject == b.Slot.Subject && a.Slot.Attribute == b.Slot.Attribute && a.Slot.Value != b.Slot.Value
}

// apartList takes a statement apart if its values stand in it one after the other, with
// nothing but marks, conjunctions and articles between them.
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

// conjoined reports text that only joins two members of a list.
func conjoined(s string) bool {
	switch strings.TrimSpace(strings.Trim(s, " ,，、")) {
	case "", "and", "or", "和", "跟", "与", "及", "以及", "还有", "或":
		return true
	}
	return false
}

// called is where " and a cat called " says what the next member is; 0 where it is
// nothing of the kind.
func called(between string) int {
	for _, and := range [...]string{" and ", ", and ", ", "} {
		if rest, ok := strings.CutPrefix(between, and); ok && (strings.HasSuffix(rest, " called ") || strings.HasSuffix(rest, " named ")) && len(strings.Fields(rest)) <= 4 {
			return len(and)
		}
	}
	return 0
}

// wordsBack is where the n words before byte i begin, -1 where there are fewer.
func wordsBack(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		i = strings.LastIndexByte(strings.TrimRight(s[:i], " "), ' ') + 1
	}
	if n > 0 {
		return -1
	}
	return i
}
