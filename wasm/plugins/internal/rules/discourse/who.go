package discourse

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Person is someone whom a statement is about.
type Person struct {
	Name string // as shown: "Mei", "Mei's sister"
	Key  string // slot subject: "user", "tom", "mei's sister"
}

// Met is a person who was mentioned, and the byte of the text where; -1 if it was before the text.
type Met struct {
	Person
	At int
}

// SpeakerOf returns the person who speaks; if nobody is named, it is the wearer.
func SpeakerOf(ev *abi.Event, speaker string) Person {
	if speaker == "" || strings.EqualFold(speaker, ev.Wearer) {
		name := ev.Wearer
		if name == "" {
			name = "The wearer"
		}
		return Person{name, "user"}
	}
	return Person{speaker, strings.ToLower(speaker)}
}

// Named makes a person from a name: the wearer, if it is theirs.
func (t *Talk) Named(name string) Person {
	if t.Ev.Wearer != "" && strings.EqualFold(name, t.Ev.Wearer) {
		return Person{t.Ev.Wearer, "user"}
	}
	return Person{name, strings.ToLower(name)}
}

// CalledUpon returns whom a sentence calls by name: somebody who spoke before, or somebody to whom
// it says "you" and whom it names at its end, "I'll send you the slides, Priya".
func (t *Talk) CalledUpon(s syntax.Sentence) Person {
	for i := range t.Ev.Before {
		name := t.Ev.Before[i].Speaker
		if p := SpeakerOf(t.Ev, name); name != "" && p.Key != t.Self.Key && (strings.HasSuffix(s.Raw(), ", "+name) || strings.HasPrefix(s.Raw(), name+", ")) {
			return p
		}
	}
	n := len(s.Toks) - 1
	if n < 4 || s.At(n-1) != "," || !s.Toks[n].Cap || s.Toks[n-2].Cap && syntax.NameWord(s.At(n-2)) || !syntax.NameWord(s.At(n)) || s.Chinese() {
		return Person{}
	}
	for i := range n - 1 {
		if base, _ := syntax.Contraction(s.At(i)); base == "you" || base == "your" {
			if p := t.Named(s.Text[s.Toks[n].Start:s.Toks[n].End]); p.Key != t.Self.Key {
				return p
			}
		}
	}
	return Person{}
}

// Addressee returns whom "you" means: the one who is called by name, or the other who spoke last,
// else the wearer.
func (t *Talk) Addressee() (Person, bool) {
	if t.Called.Name != "" {
		return t.Called, true
	}
	for i := len(t.Ev.Before) - 1; i >= 0; i-- {
		if p := SpeakerOf(t.Ev, t.Ev.Before[i].Speaker); t.Ev.Before[i].Speaker != "" && p.Key != t.Self.Key {
			return p, true
		}
	}
	if t.Self.Key != "user" && t.Ev.Wearer != "" {
		return Person{t.Ev.Wearer, "user"}, true
	}
	return Person{}, false
}

// Persons returns the people who were mentioned, the last one last. Most lines need none, so
// earlier turns are read only when the first line does.
func (t *Talk) Persons() []Met {
	t.meetEarlier()
	return t.persons
}

func (t *Talk) meetEarlier() {
	if t.earlier || t.Part == HowTo {
		return
	}
	t.earlier = true
	own, sexes := t.persons, t.sexes
	t.persons, t.sexes = nil, nil
	for i := range t.Ev.Before {
		b := &t.Ev.Before[i]
		text := b.Text
		t.goesOn = i == len(t.Ev.Before)-1 && b.Speaker != "" && b.Speaker == t.Ev.Speaker && t.Ev.At-b.At <= AnswerWithin
		for _, s := range syntax.Sentences(text) {
			t.Meet(s.Toks, text)
			if !s.Chinese() {
				continue
			}
			if own, ok := CutOwnZh(syntax.StripLeadZh(s.Raw())); ok && t.goesOn {
				if k := syntax.KinPrefixZh(own); k != "" && !(strings.Contains(t.Ev.Text, "她") && syntax.EndsWithAny(k, menZh)) && !strings.HasPrefix(own[len(k):], "的") && NamePrefixZh(own[len(k):]) == "" {
					t.Spoken(Met{Person{t.Self.Name + "的" + k, t.Self.Key + "的" + k}, -1}) // 我弟弟吃素 / 他对花生过敏
				}
			}
			if name := NamePrefixZh(syntax.StripLeadZh(s.Raw())); name != "" {
				t.Spoken(Met{t.Named(name), -1}) // 对了，丽娜跟马可分手了
			}
		}
	}
	t.goesOn = false
	t.Spoken(own...)
	if t.sexes == nil {
		t.sexes = sexes
	} else {
		maps.Copy(t.sexes, sexes)
	}
}

// Spoken adds to the people who were mentioned.
func (t *Talk) Spoken(of ...Met) { t.persons = append(t.persons, of...) }

// Aside returns the same talk without what its own text has said, except about persons.
func (t *Talk) Aside() Talk {
	return Talk{Ev: t.Ev, Now: t.Now, Self: t.Self, persons: t.Persons(), earlier: true}
}

// Meet records who is named in a sentence, and whom "he" or "she" may mean.
func (t *Talk) Meet(toks []syntax.Token, text string) {
	named := personsIn(toks, text)
	t.Spoken(named...)
	p, ok := unnamed(toks)
	if !ok && len(named) == 0 {
		p, ok = relativeIn(toks)
	}
	if text != t.Ev.Text {
		for i := len(t.persons) - len(named); i < len(t.persons); i++ {
			t.persons[i].At = -1
		}
		p.At = -1
	}
	if ok {
		// If there is a name besides, "she" may be either of the two. In another person's words,
		// "my sister" is theirs, and a text without capitals may have names that are not
		// recognised.
		if len(named) > 0 || text != t.Ev.Text && !t.goesOn || t.Plain {
			p.Key = strings.TrimPrefix(p.Key, Mine)
		}
		t.Spoken(p)
	}
	for i := 1; i < len(toks); i++ {
		if !toks[i].Cap || !syntax.NameWord(toks[i].S) {
			continue
		}
		before := toks[i-1].S
		if before == "," && i > 1 {
			before = toks[i-2].S
		}
		if sex := syntax.SexOf(before, ""); sex != 0 { // "my brother Tom", "that fellow, Anders"
			if t.sexes == nil {
				t.sexes = map[string]byte{}
			}
			t.sexes[toks[i].S] = sex
		}
	}
}

// menZh are relatives whom 她 does not mean.
var menZh = []string{"哥", "哥哥", "弟", "弟弟", "爸", "爸爸", "爷爷", "外公", "姥爷", "叔叔", "舅舅", "儿子", "老公", "丈夫", "男朋友", "公公", "岳父"}

// Sex returns the sex of a person; 0 if it is not known.
func (t *Talk) Sex(p Person) byte {
	t.meetEarlier()
	if s := t.sexes[p.Key]; s != 0 {
		return s
	}
	if p.Name == "" {
		return syntax.SexOf(strings.TrimPrefix(p.Key, Mine), "")
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(p.Key, ".", ""), " ")
	if s := syntax.SexOf(first, ""); s != 0 && rest != "" {
		return s // "Mrs Adeyemi"
	}
	return cmp.Or(t.sexes[first], syntax.SexOf("", first))
}

// Mine begins the key of a relative of the speaker who is not named: "my sister".
const Mine = "my "

// unnamed returns the person with whom a sentence begins without a name, "my boss" or "the
// plumber", as a person who has only a key.
func unnamed(toks []syntax.Token) (Met, bool) {
	first := 0
	for first < len(toks) && (toks[first].Kind == 'p' || syntax.Lead(toks[first].S)) {
		first++
	}
	if first+2 >= len(toks) {
		return Met{}, false
	}
	switch toks[first].S {
	case "my", "our", "the", "a", "an", "your", "his", "her", "their":
	default:
		return Met{}, false
	}
	noun, next := toks[first+1].S, toks[first+2]
	named := next.Cap && syntax.NameWord(next.S) || next.S == "," || next.S == "'s" || next.S == "is" && first+3 < len(toks) && (toks[first+3].Cap || toks[first+3].S == "called")
	if named || !syntax.Kin(noun) && !Trade(noun) && !syntax.Profession(noun) {
		return Met{}, false
	}
	sex, rest := syntax.SexOf(noun, ""), toks[first+2:]
	if end := slices.IndexFunc(rest, func(o syntax.Token) bool { return o.Kind == 'p' }); end >= 0 {
		rest = rest[:end]
	}
	also := slices.ContainsFunc(rest, func(o syntax.Token) bool { // "my mum spoke to my sister"
		other := syntax.SexOf(o.S, "")
		return (syntax.Kin(o.S) || Trade(o.S) || syntax.Profession(o.S)) && (sex == 0 || other == 0 || sex == other)
	})
	if det := toks[first].S; (det == "my" || det == "our") && !also {
		noun = Mine + noun
	}
	return Met{Person{Key: noun}, toks[first].Start}, true
}

// relativeIn returns the only relative of the speaker whom a sentence mentions, without a name: "I
// met my cousin". If there are several, it is the last one, as somebody of whom it is not known
// whose relative they are.
func relativeIn(toks []syntax.Token) (p Met, ok bool) {
	for i := 0; i+1 < len(toks); i++ {
		base, rest := syntax.Contraction(toks[i].S)
		switch {
		case i == 0 && syntax.Parent[base] && (rest == "is" || rest == "" && syntax.Verbish(toks[1].S)): // "Dad's ill"
		case (base == "my" || base == "our") && (syntax.Kin(toks[i+1].S) || syntax.Offspring[toks[i+1].S]) && (i+2 == len(toks) || !toks[i+2].Cap && toks[i+2].S != "'s" && toks[i+2].S != ","):
			base = toks[i+1].S
		default:
			continue
		}
		if ok {
			return Met{Person{Key: base}, toks[i].Start}, true
		}
		p, ok = Met{Person{Key: Mine + base}, toks[i].Start}, true
	}
	return p, ok
}

// personsIn returns who is named in a sentence: capitalised words inside it that are not days,
// months, feasts or places after "in", and not a firm or street.
func personsIn(toks []syntax.Token, text string) []Met {
	var all []Met
	for i, end := 0, 0; i < len(toks); i = max(i, end) + 1 {
		t := toks[i]
		if end = i; !t.Cap || t.Kind != 'w' || !syntax.NameWord(t.S) || syntax.Tongues[t.S] {
			continue
		}
		if k := i + 1 + syntax.BoolInt(i+1 < len(toks) && toks[i+1].S == "."); Titles[t.S] && k < len(toks) && toks[k].Cap {
			end = k // "Dr. Osei"
		}
		for end+1 < len(toks) && toks[end+1].Kind == 'w' && toks[end+1].Cap && syntax.NameWord(toks[end+1].S) && strings.TrimSpace(text[toks[end].End:toks[end+1].Start]) == "" {
			end++
		}
		if end > i+1 && !Titles[t.S] || sites[toks[end].S] {
			continue // "Petrol Lane Motors", "Mill Street"
		}
		if initials(text[t.Start:t.End]) || worksFor(toks, i) || i > 0 && leaving[toks[i-1].S] && syntax.SexOf("", t.S) == 0 {
			continue // "he's with SAS"
		}
		if f, n := feast.At((&syntax.Sentence{Toks: toks}).At, i); f != nil {
			end = max(end, i+n-1)
			continue
		}
		if i > 0 {
			switch toks[i-1].S {
			case "in", "to", "at", "from", "of", "the", "on", "near", "into":
				continue
			case "a", "an":
				if !Titles[t.S] {
					continue // "I nearly married a Dane"
				}
			}
		}
		if i == 0 && (end+1 == len(toks) || !syntax.Verbish(toks[end+1].S) && !hasDone(syntax.Sentence{Toks: toks}, end+1)) {
			continue
		}
		name, _ := syntax.Contraction(toks[end].S) // "Clara's moving"
		name = text[t.Start:toks[end].Start] + Written(text[toks[end].Start:toks[end].End], name)
		all = append(all, Met{Person{name, strings.ToLower(name)}, t.Start})
	}
	return all
}

// initials reports whether a word has only capitals, three or more, as the names of firms and
// offices do.
func initials(word string) bool {
	return len(word) > 2 && strings.ToUpper(word) == word
}

// leaving are verbs whose object is a firm, unless it is a known name of a person.
var leaving = syntax.Set("left leaves leaving joined joins joining quit quits quitting")

// worksFor reports whether the name at token i is one for whom somebody works or drives, and so a
// firm.
func worksFor(toks []syntax.Token, i int) bool {
	if i < 2 || toks[i-1].S != "for" {
		return false
	}
	for k := i - 2; k >= max(0, i-5) && toks[k].Kind != 'p'; k-- {
		switch l, _, _ := syntax.Lemma(toks[k].S); l {
		case "work", "drive", "freelance", "deliver":
			return true
		}
	}
	return false
}

// Titles come before a name and are a part of it.
var Titles = syntax.Set("dr mr mrs ms prof")

// sites are the endings of names of firms, streets and buildings.
var sites = syntax.Set("motors motor garage road street lane avenue square court hall house hotel inn bank school college university hospital clinic surgery pharmacy station airport park gardens garden market centre center club museum library church bridge river lake group ltd inc gmbh llc company bakery restaurant cafe café bar pub gym airlines airways express")

// Personal reports whether a pronoun stands for somebody as an object.
func Personal(s string) bool {
	switch s {
	case "me", "us", "him", "her", "them", "you":
		return true
	}
	return false
}
