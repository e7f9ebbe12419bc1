package query

import "github.com/locket-dev/locket/memory"

var (
	// ofAmount finds questions about an amount that belongs to the wearer: "how much is my bonus",
	// "what was my blood pressure", 我的奖金是多少.
	ofAmount = lazily(`(?i)^(?:and |so )?how (?:much|high|big|tall|heavy) (?:is|was|are|were) (?:my|our) |^(?:and |so )?what(?:['’]s| is| was) (?:my|our) (?:\pL+ )?(?:blood pressure|blood sugar|pulse|heart rate|temperature|weight|height|salary|rent|bonus|raise|pay)\b\W*$` +
		`|^(?:请问)?我(?:们|家)?的?(?:血压|血糖|体重|身高|心率|体温|工资|房租|奖金|年终奖)(?:是|有|要)?(?:多少|多高|几)`)
	// noAmount finds numbers that are not amounts: the date beside a weekday, times, days, places,
	// 一直.
	noAmount = lazily(`(?i)[(（][^)）]*20\d\d[^)）]*[)）]|\b(?:at|on|by|level|floor|room|number) \d{1,2}(?::\d\d)?\b(?: ?(?:am|pm)\b)?` +
		`|\b(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)\b|万一|统一|第[一二三四五六七八九十]|一[直样点下些般起定]`)
	hasNumber = lazily(`(?i)[0-9０-９〇零一二三四五六七八九十两百千万]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|half|double|free|nothing)\b`)
)

// mostBeside is the maximum length, in bytes, of a line that states a number and little else: "It's
// 900 now."
const mostBeside = 20

// counts returns a check of whether a document states a number, if the question asks for one;
// otherwise nil.
func (read reader) counts(question string) func(id memory.ID, beside bool) bool {
	if !ofAmount().MatchString(question) {
		return nil
	}
	return func(id memory.ID, beside bool) bool {
		d := read(id)
		if beside && (d.u == nil || len(d.u.Text) > mostBeside) {
			return false
		}
		return saysNumber(d.text())
	}
}

// saysNumber reports whether a text has a number that may be an amount.
func saysNumber(text string) bool {
	return hasNumber().MatchString(noAmount().ReplaceAllString(text, ""))
}
