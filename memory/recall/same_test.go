package recall

import (
	"strings"
	"testing"
)

// TestSynonyms: a question finds what was said by another word for the same thing, before a line
// that shares nothing but the speaker, and the answer counts as known.
func TestSynonyms(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "a", june, 1,
		[2]string{"Ana", "Dr Brandt says that I should drink more."},
		[2]string{"Ben", "The bus was late again."})
	talk(t, x, "b", june.AddDate(0, 0, 1), 11,
		[2]string{"Ana", "We celebrate grandma's seventieth in Graz."},
		[2]string{"Ben", "I want to paint the fence."})
	talk(t, x, "c", june.AddDate(0, 0, 2), 21,
		[2]string{"Ana", "Our neighbor sold the grey lorry."},
		[2]string{"Ben", "Then there is more room."})
	talk(t, x, "d", june.AddDate(0, 0, 3), 31,
		[2]string{"小雨", "我想住在捷運站附近，搬家那天叫了計程車。"},
		[2]string{"阿杰", "下雨了，带伞。"})
	talk(t, x, "e", june.AddDate(0, 0, 4), 41,
		[2]string{"小雨", "我对花粉过敏，春天不出门。"},
		[2]string{"阿杰", "牛奶喝完了。"})
	for q, want := range map[string]byte{
		"What did the doctor say?": 1, "Where do we celebrate the 70th?": 11, "Which neighbour had a truck?": 21,
		"谁想住在地铁站附近": 31, "搬家叫的是什么出租车": 31, "我对什么过敏": 41,
	} {
		r := find(t, x, Query{Text: q, Now: june.AddDate(0, 1, 0), Wearer: "小雨"})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(int(want)) || r.Confidence < Unsure {
			t.Errorf("%q: %v, confidence %.2f; want line %d first", q, r.Hits, r.Confidence, want)
		}
	}
}

// TestWordsWithGrammarCharacters: 过敏 and 首都 are words and say what is asked for, although 过 and 都 are
// grammar; 买了 and 在家 are not.
func TestWordsWithGrammarCharacters(t *testing.T) {
	for word, is := range map[string]bool{"过敏": true, "首都": true, "地铁": true, "派对": true, "买了": false, "在家": false, "看到": false, "我妈": false, "过来": false, "都铁": false} {
		if hanWord(word) != is {
			t.Errorf("%s: %v", word, !is)
		}
	}
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "a", june, 1, [2]string{"妈妈", "止疼药六个小时吃一次。"}, [2]string{"小雨", "好，我记住了。"})
	if r := find(t, x, Query{Text: "妈妈对什么药过敏", Now: june}); r.Confidence >= Unsure {
		t.Errorf("an allergy of which nobody spoke has confidence %.2f", r.Confidence)
	}
}

// TestGeneralWords: a question asks by a general verb for what was told by another one. One that
// was not said costs little confidence, and one that was said does not make an answer.
func TestGeneralWords(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "a", june, 1,
		[2]string{"Ana", "I'll ring the roofer tomorrow."},
		[2]string{"Ben", "Ask Mick, he did ours."},
		[2]string{"Ana", "Did he attend to the gutter?"})
	sure := func(q string) float64 {
		return find(t, x, Query{Text: q, Now: june.AddDate(0, 1, 0)}).Confidence
	}
	if got, other := sure("Which roofer did they recommend?"), sure("Which roofer did they guillotine?"); got < Unsure || other >= got {
		t.Errorf("a general word that nobody said: %.2f; another: %.2f", got, other)
	}
	if got := sure("Which regatta did they attend?"); got >= Unsure {
		t.Errorf("nothing but a general word: %.2f", got)
	}
	for w := range generalWords() {
		if strings.ContainsAny(w, " \n`") || w == "" {
			t.Errorf("%q is no term", w)
		}
	}
}
