package secrets

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/lower"
	"github.com/locket-dev/locket/wasm/abi"
)

// label says what the secret opens, in words that do not contain the secret.
func label(ev *abi.Event, f *found) string {
	l := f.cue.label
	if l == "" {
		l = f.cue.entry
	}
	if strings.Contains(strings.ToLower(l), strings.ToLower(f.secret)) && len(f.secret) > 2 || digitsOf(f.secret) != "" && f.cue.entry != "card" && digitsOf(l) != "" && strings.Contains(digitsOf(l), digitsOf(f.secret)) {
		l = f.cue.noun
	}
	if l == f.cue.noun || strings.EqualFold(l, f.cue.noun) {
		l = topic(ev, f, l)
	}
	low := lower.Of(l)
	for _, w := range [...]string{"wifi", "wi-fi"} {
		if i := strings.Index(low, w); i >= 0 {
			l = l[:i] + "Wi-Fi" + l[i+len(w):]
			break
		}
	}
	if l == "pin" || strings.HasPrefix(l, "pin ") {
		l = "PIN" + l[3:]
	}
	if l != "" && l[0] >= 'a' && l[0] <= 'z' {
		l = string(l[0]-32) + l[1:]
	}
	l = strings.NewReplacer(" my ", " the ", " our ", " the ", " your ", " the ").Replace(l)
	for _, measure := range [...]string{"张", "个", "台", "部", "把", "扇"} { // measure words, as in 那张银行卡
		if strings.HasPrefix(hans.Fold(l), measure) {
			l = l[len(measure):]
		}
	}
	const most = 100
	if len(l) > most {
		l = strings.ToValidUTF8(l[:most], "")
	}
	return l
}

// ownPIN reports whether a PIN is called somebody's own: "my PIN is …".
func ownPIN(text string, f *found) bool {
	if f.cue.turn != 0 || f.cue.start > len(text) {
		return false
	}
	switch s := strings.ToLower(strings.TrimSpace(text[:f.cue.start])); s[strings.LastIndexByte(s, ' ')+1:] {
	case "my", "your", "his", "her", "our", "their":
		return true
	}
	return false
}

// near is how many bytes of a text around a secret, and of an earlier turn, are searched for what
// it opens.
const near = 400

// answered reports whether an earlier turn gave a secret. The secret is there, or its kind in brackets.
func answered(text string) bool {
	toks := lex(text)
	return slices.ContainsFunc(findCues(text, toks), func(c cue) bool {
		_, ok := parseValue(text, toks, c.value, c.class, !c.linked)
		return ok || strings.Contains(text, "["+c.entry+"]")
	})
}

// changes reports whether a turn has words for correcting or replacing a secret.
func changes(text string) bool {
	for _, t := range lex(text) {
		switch t.s {
		case "no", "wait", "sorry", "oops", "actually", "mean", "meant", "correction", "now", "changed", "change", "new", "not", "instead":
			return true
		}
	}
	folded := hans.Fold(text)
	for _, w := range [...]string{"不对", "不是", "错", "改", "换", "新", "现在", "变"} {
		if strings.Contains(folded, w) {
			return true
		}
	}
	return false
}

// topic puts the topic of this turn or the last ones before a bare "password".
func topic(ev *abi.Event, f *found, noun string) string {
	texts := []string{ev.Text}
	if len(ev.Text) > 2*near && f.turn == 0 {
		texts[0] = strings.ToValidUTF8(ev.Text[max(0, f.start-near):min(len(ev.Text), f.end+near)], "")
	}
	if noun == "PIN" && ownPIN(ev.Text, f) {
		return noun // one's own PIN, and not that of the safe that was mentioned before
	}
	for i := len(ev.Before) - 1; i >= max(0, len(ev.Before)-lookBack) && ev.At-ev.Before[i].At <= maxWait; i-- {
		b := ev.Before[i].Text
		texts = append(texts, strings.ToValidUTF8(b[max(0, len(b)-2*near):], ""))
	}
	for i, text := range texts {
		what := speaksOf(text)
		if what == "" || i > 0 && f.turn == 0 && answered(text) && !changes(texts[0]) { // that topic has its own secret
			continue
		}
		if what[0] < 0x80 {
			what += " "
		}
		return what + noun
	}
	return noun
}

// speaksOf names the thing with a secret that a text mentions; empty: none.
func speaksOf(text string) string {
	for _, t := range lex(text) {
		switch s := t.s; {
		case s == "wlan" || s == "network":
			return "Wi-Fi"
		case opener(s) && s != "office" && s != "building" && s != "key", s == "router", s == "printer", s == "email", s == "server", s == "computer", s == "netflix", s == "bank", s == "account", s == "card":
			return s
		}
	}
	folded := hans.Fold(text)
	for _, w := range [...]string{"门禁", "大门", "保险箱", "保险柜", "手机", "电脑", "邮箱", "银行卡", "无线网", "路由器", "报警器"} {
		if i := strings.Index(folded, w); i >= 0 {
			return text[i : i+len(w)]
		}
	}
	return ""
}
