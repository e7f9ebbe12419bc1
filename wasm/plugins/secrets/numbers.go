package secrets

import (
	"strconv"
	"strings"
)

// digitWord reads one spoken digit; "oh" only counts among other digits, which the caller
// checks.
func digitWord(s string) (byte, bool) {
	switch s {
	case "zero", "nought", "oh", "o", "零", "〇", "洞":
		return '0', true
	case "one", "一", "幺", "壹":
		return '1', true
	case "two", "二", "两", "贰":
		return '2', true
	case "three", "三", "叁":
		return '3', true
	case "four", "四", "肆":
		return '4', true
	case "five", "五", "伍":
		return '5', true
	case "six", "六", "陆":
		return '6', true
	case "seven", "七", "拐", "柒":
		return '7', true
	case "eight", "八", "捌":
		return '8', true
	case "nine", "niner", "九", "勾", "玖":
		return '9', true
	}
	return 0, false
}

var teens = [...]string{"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
var tens = [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}

// pairWord reads ten to ninety-nine, in one word or with a hyphen; open means
// that a digit may follow ("forty two").
func pairWord(s string) (n int, open, ok bool) {
	for i, w := range teens {
		if s == w {
			return 10 + i, false, true
		}
	}
	head, rest, hyphen := strings.Cut(s, "-")
	for i, w := range tens {
		if head != w {
			continue
		}
		if !hyphen {
			return 10 * (i + 2), true, true
		}
		if d, ok := digitWord(rest); ok && d != '0' {
			return 10*(i+2) + int(d-'0'), false, true
		}
	}
	return 0, false, false
}

// hyphenDigits reads digit words joined by hyphens: four-eight-one-five.
func hyphenDigits(s string) (string, bool) {
	if !strings.Contains(s, "-") {
		return "", false
	}
	var b []byte
	for w := range strings.SplitSeq(s, "-") {
		d, ok := digitWord(w)
		if !ok {
			return "", false
		}
		b = append(b, d)
	}
	return string(b), true
}

func pairDigits(n int) string { return strconv.Itoa(n) }

// symbolWord reads the spoken name of a mark; words is the number of its tokens.
func symbolWord(toks []token, i int) (sign string, words int) {
	next := ""
	if i+1 < len(toks) {
		next = toks[i+1].s
	}
	two := func(s string, seconds ...string) (string, int) {
		for _, w := range seconds {
			if next == w {
				return s, 2
			}
		}
		return "", 0
	}
	switch toks[i].s {
	case "dash", "hyphen", "minus":
		return "-", 1
	case "underscore":
		return "_", 1
	case "dot", "period":
		return ".", 1
	case "hash", "hashtag":
		return two1("#", next)
	case "pound":
		return two("#", "sign", "key")
	case "star", "asterisk":
		return two1("*", next)
	case "exclamation":
		return two("!", "mark", "point")
	case "question":
		return two("?", "mark")
	case "dollar":
		return two("$", "sign")
	case "percent":
		return two("%", "sign")
	case "plus":
		return two1("+", next)
	case "equals":
		return two1("=", next)
	case "at":
		return two("@", "sign", "symbol")
	case "ampersand":
		return "&", 1
	case "slash":
		return "/", 1
	}
	return "", 0
}

func two1(s, next string) (string, int) {
	if next == "sign" || next == "key" || next == "symbol" {
		return s, 2
	}
	return s, 1
}
