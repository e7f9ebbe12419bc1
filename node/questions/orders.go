package questions

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
)

// Order is what a spoken line orders the node to do.
type Order struct {
	Listen bool          // listen again; otherwise stop listening
	For    time.Duration // how long to stop; 0: until the wearer resumes
}

// longest is the maximum duration of a spoken pause. A pause for a longer time has no end,
// because a number that was misheard must not make the node record.
const longest = 24 * time.Hour

// called matches the node's name before an order. Unlike a question, an order needs no comma or
// greeting, because its sentence contains nothing but the order.
const called = `(?i)^[\s\pP]*(?:(?:(?:hey|hi|hello|okay|ok)[\s\pP]+|(?:嘿|嗨|喂|你好)[\s\pP]*)(?:locket|lockett|locked|lock it)|locket|lockett)[\s\pP]*`

// ended matches the end of the order's sentence. With a question mark it is a question, and not
// an order. What follows the sentence is said off the record.
const ended = `\s*(?:[.!。！]|$)`

var (
	stop = regexp.MustCompile(called + `(?:please[\s,]+)?(?:now[\s,]+)?(?:(?:stop|quit)\s+(?:listening|recording)|(?:don't|don’t|do not)\s+(?:listen|record)|(?:go\s+)?off\s+the\s+record)` +
		`(?:[\s,]+(?:(?:please|now|thanks|thank you|to (?:me|us|this))|((?:for|until|till)\s+[^.?!,;]+)))*` + ended)
	stopZh = regexp.MustCompile(called + `请?(?:你|先)?(?:([^\s\pP]+?)(?:内|之内)?)?(?:(?:先|请)*(?:别|不要|不许|停止|停|暂停)(?:再)?(?:听|录音|录|记录)(?:了)?([^\s\pP]*?))(?:了|吧|啊|好吗)?` + ended)
	restZh = regexp.MustCompile(called + `请?(?:先)?(?:停|暂停)([^\s\pP]+?)(?:吧|啊)?` + ended)
	listen = regexp.MustCompile(called + `(?:please[\s,]+)?(?:(?:you\s+(?:can|may)\s+)?(?:listen|record)(?:\s+(?:again|now))+|(?:start|resume)\s+(?:listening|recording)(?:\s+again)?|(?:go\s+)?(?:back\s+)?on\s+the\s+record)` +
		`(?:[\s,]+(?:please|now|thanks|thank you))*` + ended)
	listenZh = regexp.MustCompile(called + `(?:你)?(?:现在)?(?:可以|继续|开始|恢复)(?:继续|开始)?(?:听|录音|录)(?:了|吧)*` + ended)
)

// ParseOrder returns what a line orders. ok is false for a line that is not only an order: a line
// that mentions an order, or asks about one, orders nothing.
func ParseOrder(text string) (o Order, ok bool) {
	if len(text) > memory.MaxExcerpt {
		return o, false
	}
	text = hans.Fold(text)
	if listen.MatchString(text) || listenZh.MatchString(text) {
		return Order{Listen: true}, true
	}
	if m := stop.FindStringSubmatch(text); m != nil {
		return Order{For: english(m[1])}, true
	}
	if m := stopZh.FindStringSubmatch(text); m != nil && (m[1] == "" || chinese(m[1]) > 0) && (m[2] == "" || chinese(m[2]) > 0) {
		return Order{For: max(chinese(m[1]), chinese(m[2]))}, true
	}
	if m := restZh.FindStringSubmatch(text); m != nil && chinese(m[1]) > 0 {
		return Order{For: chinese(m[1])}, true
	}
	return o, false
}

var (
	lasts   = regexp.MustCompile(`(?i)^for\s+(?:the\s+next\s+|about\s+)?(.+?)\s+(second|minute|hour)s?(?:\s+(?:please|now))*$`)
	lastsZh = regexp.MustCompile(`^(.*?)(个半|个)?(小时|钟头|分钟|分|秒钟|秒|刻钟)$`)
	numbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90}
)

// english parses the time in "for ten minutes"; 0: there is none, or it is not understood.
func english(text string) time.Duration {
	m := lasts.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0
	}
	unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}[m[2]]
	if m[1] == "half an" {
		return unit / 2
	}
	n, ok := numbers[m[1]]
	if !ok {
		n, _ = strconv.Atoi(m[1])
	}
	return bounded(n, unit)
}

// chinese parses the time in 十分钟; 0: there is none, or it is not understood.
func chinese(text string) time.Duration {
	m := lastsZh.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	unit := time.Minute
	switch []rune(m[3])[0] {
	case '小', '钟':
		unit = time.Hour
	case '秒':
		unit = time.Second
	case '刻':
		unit = 15 * time.Minute
	}
	if m[1] == "半" {
		return unit / 2
	}
	d := bounded(counted(m[1]), unit)
	if d > 0 && strings.HasSuffix(m[2], "半") {
		d += unit / 2
	}
	return d
}

// counted parses a number below 100, such as 25 or 二十五; 0: it is not one.
func counted(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	digit := func(s string) int {
		switch s {
		case "两":
			return 2
		}
		for i, r := range []rune("一二三四五六七八九") {
			if s == string(r) {
				return i + 1
			}
		}
		return 0
	}
	tens, ones, ok := strings.Cut(s, "十")
	if !ok {
		return digit(s)
	}
	n := 10
	if tens != "" {
		n *= digit(tens)
	}
	if ones != "" && digit(ones) == 0 {
		return 0
	}
	return n + digit(ones)
}

func bounded(n int, unit time.Duration) time.Duration {
	if n <= 0 || n > int(longest/unit) {
		return 0
	}
	return time.Duration(n) * unit
}
