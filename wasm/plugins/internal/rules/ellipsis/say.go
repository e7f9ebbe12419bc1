package ellipsis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A statement has its subject first, and the verb has the form that "do" or "did" had in the
// question.

// Says returns the statement, or its denial, with rest after its subject.
func (q *Inquiry) Says(neg bool, rest []string) string {
	k, neg := 0, neg != q.not
	for k < len(rest) && syntax.Adverb(strings.ToLower(rest[k])) && k+1 < len(rest) {
		k++
	}
	subj, aux, not := q.Subj, q.Aux, ""
	self := subj == "I"
	if subj == q.By.Name && !q.plain { // "am I", "do I"
		switch aux {
		case "am":
			aux = "is"
		case "do":
			aux = "does"
		case "have":
			aux = "has"
		}
	}
	if neg {
		not = " not"
	}
	said := slices.Clone(rest)
	if (aux == "have" || aux == "has") && k < len(said) && strings.EqualFold(said[k], "got") {
		if said[k] = "have"; aux == "have" {
			aux = "do"
		} else {
			aux = "does"
		}
	}
	switch {
	case self && aux == "are":
		aux = "am"
	case self && aux == "were":
		aux = "was"
	case aux == "do" && !neg:
		aux = ""
	case aux == "does" && !neg:
		if k >= len(said) {
			return ""
		}
		aux, said[k] = "", syntax.Third(strings.ToLower(said[k]))
	case aux == "did" && !neg:
		if k >= len(said) {
			return ""
		}
		if aux, said[k] = "", pastOf(strings.ToLower(said[k])); said[k] == "" {
			return ""
		}
	}
	if neg && (aux == "do" || aux == "does" || aux == "did") {
		aux, not = aux+"n't", ""
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(subj+" "+aux+not+" "+strings.Join(said, " ")), " ")
}

// with replaces some words by an answer. What follows a comma in the answer comes last: "I have a
// hamster at home, Nibbles".
func (q *Inquiry) with(first, end int, fill []string) []string {
	n := 1 + slices.IndexFunc(fill, func(w string) bool { return strings.HasSuffix(w, ",") })
	if n == 0 || end == len(q.Rest) {
		return slices.Concat(q.Rest[:first], fill, q.Rest[end:])
	}
	for n < len(fill) && slices.Contains(fill[n:], "and") {
		n++ // "peanuts, eggs and milk"
	}
	all := slices.Concat(q.Rest[:first], fill[:n], q.Rest[end:])
	if n < len(fill) {
		all[first+n-1] = strings.TrimSuffix(all[first+n-1], ",")
		all[len(all)-1] += ","
	}
	return append(all, fill[n:]...)
}

// someOf returns the words after the subject, without "any" and "ever".
func (q *Inquiry) someOf() []string {
	return slices.DeleteFunc(slices.Clone(q.Rest), func(w string) bool {
		w = strings.ToLower(w)
		return w == "any" || w == "ever" || w == "not"
	})
}

// uncapital returns an answer with its first word in lower case, unless that is a name.
func uncapital(words []string) []string {
	if len(words) > 0 && !(len(words) > 1 && !strings.HasSuffix(words[0], ",") && discourse.Capitalised(words[1])) {
		words = slices.Clone(words)
		words[0] = LowerFirst(words[0])
	}
	return words
}

// LowerFirst returns a text with its first letter in lower case.
func LowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// pasts maps irregular verbs that are used in questions with "did" to their past forms.
var pasts = func() map[string]string {
	m := map[string]string{}
	for f := range strings.FieldsSeq("go=went have=had get=got grow=grew buy=bought meet=met see=saw eat=ate leave=left come=came drive=drove fly=flew take=took give=gave sell=sold lose=lost put=put teach=taught send=sent make=made " +
		"find=found spend=spent tell=told win=won break=broke fall=fell build=built pay=paid begin=began hold=held sleep=slept choose=chose lend=lent cut=cut hurt=hurt wear=wore drink=drank swim=swam ride=rode run=ran keep=kept write=wrote quit=quit become=became read=read stand=stood speak=spoke sit=sat do=did hide=hid cost=cost set=set let=let hit=hit shut=shut split=split spread=spread") {
		base, past, _ := strings.Cut(f, "=")
		m[base] = past
	}
	return m
}()

// pastOf returns the past form of a verb, or "" if it is not known.
func pastOf(verb string) string {
	if p := pasts[verb]; p != "" {
		return p
	}
	n := len(verb)
	switch {
	case !syntax.LemmaSet[verb]:
		return ""
	case doubles(verb):
		return verb + verb[n-1:] + "ed"
	case n > 1 && verb[n-1] == 'y' && !strings.ContainsAny(verb[n-2:n-1], "aeiou"):
		return verb[:n-1] + "ied"
	case verb[n-1] == 'e':
		return verb + "d"
	}
	return verb + "ed"
}

// doubles reports whether a short verb doubles its last letter in its other forms: "stop".
func doubles(s string) bool {
	n := len(s)
	vowel := func(i int) bool { return strings.IndexByte("aeiou", s[i]) >= 0 }
	return n > 2 && n < 6 && !vowel(n-1) && vowel(n-2) && !vowel(n-3) && !strings.ContainsAny(s[n-1:], "wxy") && (n < 5 || !vowel(0) && !vowel(1) && !vowel(2)) && s != "visit" && s != "open"
}

// gerund returns the form of a verb in "-ing".
func gerund(s string) string {
	n := len(s)
	switch {
	case strings.HasSuffix(s, "ie"):
		return s[:n-2] + "ying"
	case strings.HasSuffix(s, "e") && !strings.HasSuffix(s, "ee") && s != "be":
		return s[:n-1] + "ing"
	case doubles(s):
		return s + s[n-1:] + "ing"
	}
	return s + "ing"
}

// be reports whether a question has "is" or "are".
func (q *Inquiry) be() bool { return q.Aux == "is" || q.Aux == "are" || q.Aux == "am" }
