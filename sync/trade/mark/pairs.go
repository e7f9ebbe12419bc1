package mark

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
)

// written are the pairs of forms, each as FORM/FORM, with the same number of words on both sides. A
// pair with ">" is found only by its first form, because the second has other senses, or does not
// fit everywhere. After "+" come words that may not follow, separated by commas; "…" says that a
// word of the same sentence has to follow, and "=" that it has to be one after which 's can't be
// "has".
//
// A pair belongs here if no reader minds which of the two is used, wherever they occur.
const written = `
maybe/perhaps almost/nearly> usually/normally> often/frequently quickly/rapidly mostly/mainly
someone/somebody anyone/anybody everyone/everybody among/amongst toward/towards afterward/afterwards
whole_day/entire_day whole_week/entire_week whole_year/entire_year whole_house/entire_house
began_to/started_to> begins_to/starts_to> begin_to/start_to> began_at/started_at> begins_at/starts_at> begin_at/start_at>
began_in/started_in> begins_in/starts_in> begin_in/start_in> began_with/started_with> begins_with/starts_with> begin_with/start_with>
each_day/every_day> each_morning/every_morning> each_evening/every_evening> each_night/every_night> each_week/every_week>
each_month/every_month> each_year/every_year> each_time/every_time> each_spring/every_spring> each_summer/every_summer>
each_autumn/every_autumn> each_winter/every_winter> each_weekend/every_weekend> one_another/each_other>
the_beginning_of/the_start_of> at_the_beginning/at_the_start> because_of/owing_to> as_though/as_if>
don't/do_not+ASKS doesn't/does_not+ASKS didn't/did_not+ASKS isn't/is_not+…,ASKS aren't/are_not+…,ASKS wasn't/was_not+…,ASKS
weren't/were_not+…,ASKS hasn't/has_not+…,ASKS haven't/have_not+…,ASKS hadn't/had_not+…,ASKS couldn't/could_not+ASKS
wouldn't/would_not+ASKS shouldn't/should_not+ASKS mustn't/must_not+ASKS
it_is/it's>+…,= she_is/she's>+…,= he_is/he's>+…,= that_is/that's>+…,= there_is/there's>+…,=
i'm/i_am+… they're/they_are+… we're/we_are+… you're/you_are+…
i'll/i_will+… she'll/she_will+… he'll/he_will+… we'll/we_will+… they'll/they_will+… you'll/you_will+… it'll/it_will+…
i've_been/i_have_been we've_been/we_have_been they've_been/they_have_been you've_been/you_have_been
但是/不过> 常常/经常> 立刻/马上> 昨天/昨日> 忽然/突然> 自行车/脚踏车> 而且/并且> 或者/或是> 虽然/尽管>
`

// small are pairs whose forms can be names, so they are found only in lower case.
const small = `
larger/bigger> largest/biggest> purchased/bought> children/kids> sofa/couch>+bed,beds movies/films> telephone/phone> telephones/phones>
fridge/refrigerator airplane/plane>+mode airplanes/planes> exam/examination> exams/examinations>
colour/color colours/colors favourite/favorite neighbour/neighbor neighbours/neighbors grey/gray center/centre theatre/theater
flavour/flavor flavours/flavors organise/organize organised/organized realise/realize realised/realized recognise/recognize
recognised/recognized travelled/traveled travelling/traveling cancelled/canceled jewellery/jewelry pyjamas/pajamas
`

// asks are words that may not follow, because before them "don't" begins a question, or "do not" is
// split.
const asks = "i,you,he,she,it,we,they,the,to,only,just,because"

// is are words before which 's stands for "is"; so do words that end in -ing.
var is = []string{"a", "an", "the", "in", "on", "at", "my", "his", "her", "our", "their", "from", "for", "near", "under", "behind", "beside"}

// pair is one of two forms; it is found by its first word.
type pair struct {
	form, to string
	was      int      // index of form in Spot.Forms
	never    []string // words that may not follow
	follows  bool     // a word has to follow, after one space
	is       bool     // before which 's stands for "is"
	small    bool     // only in lower case
}

// pairs has the pairs by their first word.
var pairs = read()

func read() map[string][]pair {
	out := map[string][]pair{}
	for i, line := range append(strings.Fields(written), strings.Fields(small)...) {
		p := pair{small: i >= len(strings.Fields(written))}
		line, rules, _ := strings.Cut(strings.Replace(line, "ASKS", asks, 1), "+")
		for _, r := range strings.Split(rules, ",") {
			switch r {
			case "":
			case "…":
				p.follows = true
			case "=":
				p.is = true
			default:
				p.never = append(p.never, r)
			}
		}
		a, b, _ := strings.Cut(strings.ReplaceAll(line, "_", " "), "/")
		b, directed := strings.CutSuffix(b, ">")
		p.form, p.to = a, b
		add := func() { out[tokens(p.form)[0].word] = append(out[tokens(p.form)[0].word], p) }
		add()
		if !directed {
			p.form, p.to, p.was = b, a, 1
			add()
		}
	}
	for _, list := range out { // the longest first
		sorting.Stable(list, func(a, b pair) int { return len(b.form) - len(a.form) })
	}
	return out
}

// fits returns the number of tokens of the form if it is at token i, or 0.
func (p *pair) fits(text string, ts []token, i int) int {
	n := len(tokens(p.form))
	if i+n > len(ts) {
		return 0
	}
	end := ts[i+n-1].to
	if strings.ToLower(strings.ReplaceAll(text[ts[i].from:end], "’", "'")) != p.form {
		return 0
	}
	if first := rune(text[ts[i].from]); unicode.IsUpper(first) && !strings.HasPrefix(p.form, "i'") && !strings.HasPrefix(p.form, "i ") && (p.small || !begins(text, ts, i)) {
		return 0 // a name: Mr Gray
	}
	if !standsAlone(text, ts[i].from, end) {
		return 0
	}
	next := i + n
	spaced := next < len(ts) && text[end:ts[next].from] == " "
	if p.follows && !spaced || spaced && slices.Contains(p.never, ts[next].word) {
		return 0
	}
	if p.is && !slices.Contains(is, ts[next].word) && !strings.HasSuffix(ts[next].word, "ing") {
		return 0
	}
	return n
}

// standsAlone reports whether the text from one byte to another has a space or a punctuation mark on both
// sides, so that it is not a part of a link, a name or a longer word. Before a Chinese word, a
// character with which no longer word begins is also allowed.
func standsAlone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, size := utf8.DecodeRuneInString(text[to:])
	first, _ := utf8.DecodeRuneInString(text[from:])
	if unicode.Is(unicode.Han, first) {
		ends := to == len(text) || unicode.Is(unicode.Han, after) || unicode.IsSpace(after) || strings.ContainsRune("，。！？；：、", after)
		return ends && (from == 0 || unicode.IsSpace(before) || strings.ContainsRune("，。！？；：、我你他她它们的", before))
	}
	if from > 0 && !unicode.IsSpace(before) && !strings.ContainsRune("(“\"", before) {
		return false
	}
	if to == len(text) || unicode.IsSpace(after) {
		return true
	}
	behind, _ := utf8.DecodeRuneInString(text[to+size:])
	return strings.ContainsRune(",.!?;)”\"", after) && (to+size == len(text) || unicode.IsSpace(behind) || strings.ContainsRune(",.!?;)”\"", behind))
}

// begins reports whether token i begins a sentence.
func begins(text string, ts []token, i int) bool {
	return i == 0 || strings.ContainsAny(text[ts[i-1].to:ts[i].from], ".!?:")
}

var numbers = []string{"2", "two", "3", "three", "4", "four", "5", "five", "6", "six", "7", "seven", "8", "eight", "9", "nine", "10", "ten", "11", "eleven", "12", "twelve"}

var chineseNumbers = []string{"3", "三", "4", "四", "5", "五", "6", "六", "7", "七", "8", "八", "9", "九"}

// counting are words after which a number counts the following plural.
var counting = strings.Fields(`for in of with these those my our your their his her has have had got gets need needs want wants took takes bought buys
sold left holds held keeps kept made makes saw found gave ate drank are were only all other another last next first`)

// many are plurals without an s.
var many = []string{"children", "people", "men", "women", "feet", "teeth", "mice", "geese", "sheep", "fish"}

// counted are Chinese words between a number and what is counted, and countable are those before
// such a number.
const (
	counted   = "个只本杯件张次"
	countable = "，。！？；、 了有喝吃买要用的"
)

// numberAt finds a number from two to twelve that counts something. A Chinese number is found only
// as a digit, because the written-out number is also a part of names.
func numberAt(text string, ts []token, i int) (n, was int, forms [2]string) {
	t := ts[i]
	if i+1 >= len(ts) {
		return 0, 0, forms
	}
	next := ts[i+1]
	after := text[t.to:next.from]
	if at := slices.Index(chineseNumbers, t.word); at >= 0 && at%2 == 0 && after == "" && strings.Contains(counted, next.word) {
		before, _ := utf8.DecodeLastRuneInString(text[:t.from])
		if t.from > 0 && !strings.ContainsRune(countable, before) || i+2 < len(ts) && strings.Contains("元方套", ts[i+2].word) {
			return 0, 0, forms
		}
		return 1, 0, [2]string{chineseNumbers[at], chineseNumbers[at+1]}
	}
	at := slices.Index(numbers, text[t.from:t.to])
	if at < 0 || i == 0 || after != " " || text[ts[i-1].to:t.from] != " " || !slices.Contains(counting, text[ts[i-1].from:ts[i-1].to]) || !plural(text[next.from:next.to]) || !standsAlone(text, next.from, next.to) {
		return 0, 0, forms
	}
	return 1, at % 2, [2]string{numbers[at&^1], numbers[at|1]}
}

// plural reports whether a word in lower case looks like a plural.
func plural(s string) bool {
	if s != strings.ToLower(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	return slices.Contains(many, s) || len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss")
}
