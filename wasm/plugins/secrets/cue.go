package secrets

import "strings"

// cue is a phrase that names a credential.
type cue struct {
	noun    string // "password", "密码"
	class   class
	entry   string // entry type of the vault
	label   string // what it opens, in the speaker's words: "office wifi password", "办公室门禁密码"
	start   int    // byte span of the phrase
	end     int
	value   int  // token where its value would begin
	linked  bool // "is", ":" or 是 stands in between
	copula  int  // token of "is" before it ("4821 is the door code"), or 0
	turn    int  // 0, or negative for an earlier turn
	speaker string
}

// findCues lists the cues of a text, in order.
func findCues(text string, toks []token) []cue {
	var cues []cue
	for i := 0; i < len(toks); {
		c, n := nounAt(text, toks, i)
		if n == 0 {
			i++
			continue
		}
		first, after := labelStart(toks, i), i+n
		c.start, c.end = toks[first].start, toks[after-1].end
		c.label = strings.TrimSpace(text[c.start:c.end])
		if toks[i].kind != 'c' {
			c.copula = copulaBefore(toks, first)
			if rest, k := target(text, toks, after); k > after && !changedTo(toks, after, i) {
				c.label += rest
				c.end, after = toks[k-1].end, k
			}
		} else if first > 0 && (toks[first-1].s == "是" || toks[first-1].s == "的" && first > 1 && toks[first-2].s == "是") {
			c.copula = first - 1
		}
		if c.class == bareCode {
			for _, t := range lex(c.label) {
				if opener(t.s) {
					c.class = codeCode
				}
			}
		}
		c.value, c.linked = link(toks, after, i)
		cues = append(cues, c)
		i += n
	}
	return cues
}

// nounAt recognises a cue's noun at token i, and returns how many tokens it takes.
func nounAt(text string, toks []token, i int) (cue, int) {
	t := toks[i]
	if t.kind == 'c' {
		return nounZh(text, toks, i)
	}
	next, prev := "", ""
	if i+1 < len(toks) {
		next = toks[i+1].s
	}
	if i > 0 {
		prev = toks[i-1].s
	}
	if prev == "[" && next == "]" { // the mark of a redaction
		return cue{}, 0
	}
	if strings.HasPrefix(next, "码") && (t.s == "pin" || t.s == "cvv" || t.s == "cvc") {
		return cue{noun: "PIN码", class: pinValue, entry: "pin"}, 2
	}
	switch t.s {
	case "passphrase":
		return cue{noun: t.s, class: sentenceValue, entry: "password"}, 1
	case "puk":
		return cue{noun: "PUK", class: pinValue, entry: "pin"}, 1
	case "otp", "totp":
		return cue{noun: "one-time code", class: codeCode, entry: "pin"}, 1
	case "combo":
		if next != "of" && prev != "winning" && prev != "great" {
			return cue{noun: t.s, class: bareCode, entry: "pin"}, 1
		}
	case "codes":
		if prev == "backup" || prev == "recovery" {
			return cue{noun: "codes", class: codeCode, entry: "key"}, 1
		}
	case "password", "passwd", "pwd", "passwords":
		return cue{noun: t.s, class: anyValue, entry: "password"}, 1
	case "passwort", "kennwort", "wachtwoord", "lösenord", "contraseña", "senha": // as in homes where other languages are spoken
		return cue{noun: t.s, class: tokenValue, entry: "password"}, 1
	case "pass":
		if next == "phrase" || next == "word" || next == "code" {
			return cue{noun: "password", class: anyValue, entry: "password"}, 2
		}
		switch prev {
		case "boarding", "bus", "mountain", "hall", "free", "day", "season", "train", "press", "backstage", "a", "to", "will", "rail", "museum", "disabled", "parking":
		default:
			return cue{noun: t.s, class: tokenValue, entry: "password"}, 1
		}
	case "passcode", "pincode":
		return cue{noun: t.s, class: codeCode, entry: "pin"}, 1
	case "pin":
		if next == "code" || next == "number" {
			return cue{noun: "PIN", class: pinValue, entry: "pin"}, 2
		}
		if prev != "to" && prev != "can" && prev != "please" && prev != "safety" && prev != "bowling" && next != "it" && next != "the" && next != "that" {
			return cue{noun: "PIN", class: pinValue, entry: "pin"}, 1
		}
	case "cvv", "cvc":
		if next == "code" || next == "number" {
			return cue{noun: t.s, class: pinValue, entry: "card"}, 2
		}
		return cue{noun: t.s, class: pinValue, entry: "card"}, 1
	case "combination":
		return cue{noun: t.s, class: bareCode, entry: "pin"}, 1
	case "code":
		if notSecret(prev) {
			return cue{}, 0
		}
		if secretCode(prev) {
			return cue{noun: "code", class: codeCode, entry: "pin"}, 1
		}
		if coupon(toks, i+1) {
			return cue{}, 0
		}
		return cue{noun: "code", class: bareCode, entry: "pin"}, 1
	case "key", "token", "secret":
		for k := max(0, i-12); k < i && t.s == "key" && (prev == "the" || prev == "its"); k++ {
			if toks[k].s == "wifi" || toks[k].s == "wi-fi" || toks[k].s == "wlan" {
				return cue{noun: t.s, class: tokenValue, entry: "password"}, 1
			}
		}
		switch prev {
		case "api", "access", "secret", "network", "wifi", "wi-fi", "wireless", "encryption", "license", "licence", "auth", "bearer", "client", "security":
			if prev == "network" || strings.HasPrefix(prev, "w") {
				return cue{noun: t.s, class: anyValue, entry: "password"}, 1
			}
			return cue{noun: t.s, class: keyValue, entry: "key"}, 1
		}
	case "wifi", "wi-fi", "wlan": // "the wifi thing, it's Heron-4471"
		switch next {
		case "is", "'s", "thing", ",", ".", "…", ":", "?", "-", "–", "—":
			return cue{noun: "Wi-Fi", class: wordyValue, entry: "password"}, 1
		}
	case "phrase", "words":
		switch prev {
		case "recovery", "seed", "backup", "mnemonic":
			return cue{noun: t.s, class: phrase, entry: "key"}, 1
		}
	}
	return cue{}, 0
}

// secretCode words before "code" mean a code that opens something.
func secretCode(s string) bool {
	return opener(s) || s == "entry" || s == "access" || s == "security" || s == "unlock" || s == "verification" || s == "pin" || s == "burglar" ||
		s == "authentication" || s == "2fa" || s == "sms" || s == "keycode" || s == "front" || s == "back" || s == "bike" || s == "key"
}

// coupon reports whether what follows "code" is a code for everybody: "use code SAVE20 at
// checkout", "code SPRING for 10% off". A number alone is not.
func coupon(toks []token, i int) bool {
	if i < len(toks) && (toks[i].s == "is" || toks[i].s == "'s" || toks[i].s == ":") {
		i++
	}
	if i >= len(toks) || strings.Trim(toks[i].s, "0123456789") == "" {
		return false
	}
	for k := i + 1; k < min(len(toks), i+8) && toks[k].s != "." && toks[k].s != "!"; k++ {
		before := toks[k-1].s
		switch toks[k].s {
		case "checkout":
			if before == "at" || before == "the" {
				return true
			}
		case "off":
			if before == "%" || before == "percent" || strings.Trim(before, "0123456789%") == "" {
				return true
			}
		case "discount":
			return true
		}
	}
	return false
}

// notSecret words before "code" mean something that anyone may know.
func notSecret(s string) bool {
	switch s {
	case "zip", "postal", "post", "area", "country", "dial", "dialing", "dialling", "error", "exit", "status", "source", "dress", "discount",
		"promo", "promotion", "promotional", "coupon", "voucher", "tracking", "order", "product", "item", "colour", "color", "bar", "qr", "morse",
		"tax", "penal", "class", "course", "unit", "flight", "airport", "sort", "currency", "legacy", "your", "this", "any", "machine", "response":
		return true
	}
	return false
}

var nounsZh = [...]struct {
	noun  string
	class class
	entry string
}{
	{"门禁码", codeCode, "pin"}, {"开门码", codeCode, "pin"}, {"解锁码", codeCode, "pin"}, {"验证码", codeCode, "pin"}, {"安全码", codeCode, "pin"},
	{"锁码", codeCode, "pin"}, {"密码", anyValue, "password"}, {"口令", anyValue, "password"}, {"暗号", anyValue, "password"},
	{"取件码", codeCode, "pin"}, {"门禁", bareCode, "pin"}, {"助记词", phrase, "key"}, {"密钥", keyValue, "key"}, {"令牌", keyValue, "key"},
}

func nounZh(text string, toks []token, i int) (cue, int) {
	for _, n := range nounsZh {
		if n.noun == "门禁" && spells(toks, i, "门禁密码") {
			continue
		}
		if spells(toks, i, n.noun) {
			c := cue{noun: text[toks[i].start:][:len(n.noun)], class: n.class, entry: n.entry}
			if n.noun == "密码" && i > 0 && (strings.Contains("禁门锁柜箱取卡款付", toks[i-1].s)) {
				c.entry = "pin"
			}
			return c, len([]rune(n.noun))
		}
	}
	return cue{}, 0
}

// labelStart goes back over the words that say what the credential opens.
func labelStart(toks []token, i int) int {
	zh := toks[i].kind == 'c'
	for n := 0; i > 0 && n < 10; n++ {
		t := toks[i-1]
		if zh {
			if t.kind == 'p' || t.kind == 'n' || t.kind == 'x' || strings.Contains("是了把说叫用吧呢吗啊我你您他她们这那请记一下就新改个的", t.s) && (t.s != "的" || i < 2 || strings.Contains("我你您他她们新", toks[i-2].s)) {
				break
			}
			i--
			continue
		}
		if n >= 4 || t.kind == 'p' || t.kind == 'n' || t.kind == 'c' || t.s != "'s" && function(t.s) || stopLabel(t.s) {
			break
		}
		if t.s == "'s" && (i < 2 || function(toks[i-2].s)) {
			break
		}
		i--
	}
	return i
}

func stopLabel(s string) bool {
	switch s {
	case "new", "old", "current", "change", "changed", "set", "reset", "forgot", "know", "use", "enter", "remember", "tell", "need", "want",
		"temporary", "new,", "actual", "and", "whole", "full", "same", "first", "second", "last", "give", "got", "get", "type", "updated", "update", "oh", "well",
		"correct", "right", "wrong", "hey", "note", "ok,", "remind", "write", "make", "pin":
		return true
	}
	return false
}

func copulaBefore(toks []token, first int) int {
	k := first - 1
	for ; k > 0 && (stopLabel(toks[k].s) || isDeterminer(toks[k].s)); k-- {
	}
	if k > 0 {
		switch toks[k].s {
		case "is", "'s", "was", "as":
			return k
		}
		if toks[k].s == "that's" || toks[k].s == "it's" {
			return k
		}
	}
	return 0
}

func isDeterminer(s string) bool {
	switch s {
	case "the", "a", "my", "your", "our", "his", "her", "their", "its":
		return true
	}
	return false
}

// target reads "for the office wifi" after the noun.
func target(text string, toks []token, i int) (string, int) {
	if i+1 >= len(toks) {
		return "", i
	}
	switch toks[i].s {
	case "for", "to", "of", "on", "at":
	default:
		return "", i
	}
	k := i + 1
	for ; k < len(toks) && k < i+8; k++ {
		t := toks[k]
		if t.kind != 'w' && t.kind != 'x' || isLink(t.s) || t.s == "and" || t.s == "to" && k > i+1 || t.s == "has" || t.s == "will" || t.s == "would" || t.s == "should" {
			break
		}
		if t.s == "'s" && (k+1 >= len(toks) || k+1 < len(toks) && !followsOwner(toks, k+1)) {
			break
		}
	}
	if k == i+1 {
		return "", i
	}
	return " " + text[toks[i].start:toks[k-1].end], k
}

// followsOwner distinguishes "for Mia's laptop is …" from "for the office's tulip42".
func followsOwner(toks []token, k int) bool {
	for e := min(len(toks), k+5); k < e; k++ {
		if isLink(toks[k].s) {
			return true
		}
	}
	return false
}

func isLink(s string) bool {
	switch s {
	case "is", "are", "=", ":", "：", "was", "reads", "becomes", "remains", "ist", "es", "é":
		return true
	}
	return false
}
