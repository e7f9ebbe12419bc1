package secrets

import "strings"

// function words are never in a password that is said as words.
func function(s string) bool {
	switch s {
	case "a", "an", "the", "to", "of", "in", "on", "at", "by", "for", "with", "from", "about", "under", "behind", "into",
		"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did", "doesn't", "isn't", "didn't",
		"not", "no", "never", "and", "or", "but", "if", "when", "because", "so", "than", "then", "that", "this", "these", "those",
		"i", "you", "he", "she", "it", "we", "they", "me", "him", "her", "us", "them", "my", "your", "his", "its", "our", "their",
		"what", "which", "who", "where", "why", "how", "can", "could", "will", "would", "should", "must", "might", "may",
		"very", "too", "really", "quite", "pretty", "always", "also", "already", "still", "just", "only", "probably", "there", "here",
		"'s", "i'm", "i'll", "i've", "it's", "you're", "that's", "don't", "can't", "won't", "something", "anything", "nothing",
		"please", "sorry", "yes", "ok", "okay", "all", "any", "some", "more", "most", "much", "as", "until", "since", "between":
		return true
	}
	return false
}

// predicate words describe the password, and are not the password.
func predicate(s string) bool {
	switch s = strings.ToLower(s); s {
	case "wrong", "right", "correct", "incorrect", "invalid", "valid", "fine", "good", "bad", "great", "strong", "weak", "long", "short",
		"easy", "hard", "simple", "complicated", "complex", "old", "new", "same", "different", "secret", "safe", "secure", "public", "private",
		"gone", "lost", "missing", "ready", "done", "broken", "stuck", "important", "necessary", "annoying", "obvious", "unknown", "empty",
		"written", "hidden", "known", "taken", "forgotten", "required", "needed", "changed", "expired", "saved", "stored", "shared", "reset",
		"case", "sensitive", "next", "below", "above", "up", "down", "out", "off", "over", "back", "everything", "everyone", "mine", "yours",
		"ours", "dead", "blocked", "default", "temporary", "random", "unique", "standard", "usual", "late", "early", "due", "better", "worse",
		"stupid", "ridiculous", "weird", "funny", "impossible", "unclear", "clear", "outdated", "overdue", "case-sensitive", "enough":
		return true
	}
	return len(s) > 5 && (strings.HasSuffix(s, "ing") || strings.HasSuffix(s, "ed"))
}

// isUnit words after a number make it an amount.
func isUnit(s string) bool {
	switch s {
	case "characters", "character", "digits", "digit", "letters", "letter", "words", "numbers", "symbols", "long", "times", "days", "day",
		"hours", "hour", "minutes", "minute", "seconds", "weeks", "week", "months", "month", "years", "year", "percent", "dollars", "euros",
		"pounds", "people", "attempts", "tries", "o'clock", "am", "pm", "euro", "bucks", "metres", "meters", "miles", "km", "lines", "th",
		"位", "个", "次", "天", "年", "月", "号", "块", "元", "点", "分", "岁", "人", "日", "遍", "种", "条":
		return true
	}
	return false
}

// filler words may come before a value that answers a cue.
func filler(s string) bool {
	switch s {
	case "uh", "um", "er", "erm", "hmm", "so", "well", "okay", "ok", "sure", "yes", "yeah", "right", "it", "it's", "that", "that's", "is",
		"'s", "was", "think", "i", "and", "now", "still", "just", "um,", "oh", "ah", "let", "me", "see", "believe", "guess", "here", "goes",
		"currently", "simply", "actually", "again", "like", "the", "word", "you", "need", "got", "ready", "one", "sec", "of", "course",
		"嗯", "呃", "好", "的", "是", "就", "啊", "哦", "那", "对", "应", "该", "它", "我", "看", "记", "得", "噢":
		return true
	}
	return false
}

// openers are what a code opens.
func opener(s string) bool {
	switch s {
	case "door", "gate", "alarm", "lock", "safe", "keypad", "locker", "garage", "entrance", "lobby", "elevator", "lift", "building", "lockbox",
		"vault", "cabinet", "phone", "laptop", "tablet", "padlock", "wifi", "wi-fi", "atm", "panel", "intercom", "suitcase", "shed", "office":
		return true
	}
	return false
}
