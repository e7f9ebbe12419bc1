package secrets

// link finds where the value of a cue would begin: after "is", "has been changed to", 是, 改成 and
// words that may stand in between. noun is the cue's token.
func link(toks []token, i, noun int) (int, bool) {
	at := func(k int) string {
		if k >= 0 && k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	linked := false
	if changedTo(toks, i, noun) {
		return i + 1, true
	}
	if at(i) == "," { // "the code, if you need it, is"
		for k := i + 1; k < min(i+8, len(toks)); k++ {
			if _, spell := spelled(toks, k+1, false); at(k) == "," && (isLink(at(k+1)) || spell) {
				i = k + 1
				break
			}
		}
	}
	i = changedThen(toks, i)
	for steps := 0; steps < 10; steps++ {
		switch s := at(i); {
		case isLink(s) || s == "'s" || s == "be":
			linked = true
		case s == "will" || s == "has" || s == "been" || s == "changed" || s == "set" || s == "reset" || s == "updated" || s == "got":
			if s != "has" && s != "will" && s != "got" && !linked && at(i-1) != "been" && at(i-1) != "has" && at(i-1) != "got" {
				return i, linked
			}
		case s == "to" && (at(i-1) == "changed" || at(i-1) == "set" || at(i-1) == "reset" || at(i-1) == "updated"):
			linked = true
		case linked && (s == "now" || s == "currently" || s == "still" || s == "just" || s == "again" || s == "actually" || s == "simply" || s == "basically" || s == "literally" || s == "probably" ||
			s == "um" || s == "uh" || s == "," || s == ":" || s == "：" || s == "following" || s == "like" || s == "as" && at(i+1) == "follows" || s == "follows" || s == "…"):
		case s == "used" && at(i+1) == "to" && at(i+2) == "be":
			i, linked = i+2, true
		case !linked && (s == "以" || s == "之") && at(i+1) == "前", !linked && s == "原" && at(i+1) == "来": // 密码以前是4821
			i++
		case linked && (s == "all") && (at(i+1) == "lowercase" || at(i+1) == "caps"):
			i++
		case linked && s == "the" && (at(i+1) == "word" || at(i+1) == "words"):
			i++
		case !linked && (s == "," || s == "…" || s == "thing" && (at(i+1) == "," || at(i+1) == "…" || at(i+1) == "...") || s == "now" || s == "ready" || s == "?" || s == "-" || s == "–" || s == "—"):
		case s == "是" || s == "为" || s == "叫":
			linked = true
		case (s == "我" || s == "们" || s == "给" || s == "改" || s == "换" || s == "设" || s == "变" || s == "就" || s == "还" || s == "现" || s == "在" || s == "已" || s == "经" || s == "被" || s == "的") && at(i) != "":
		case (s == "成" || s == "为" || s == "置") && i > 0:
			linked = true
		case linked && (s == "小" || s == "大") && at(i+1) == "写":
			i++
		case linked && s == "生" && at(i+1) == "日": // 密码是我生日 1992…
			i++
		case linked && (s == "了" || s == "，"):
		default:
			return i, linked
		}
		i++
	}
	return i, linked
}

// changedTo recognises "changed the password to", with "to" at token i.
func changedTo(toks []token, i, noun int) bool {
	if noun <= 0 || i >= len(toks) || toks[i].s != "to" {
		return false
	}
	for _, t := range toks[max(0, noun-6):noun] {
		switch t.s {
		case "change", "changed", "set", "reset", "update", "updated", "switched", "make", "made", "changing":
			return true
		}
	}
	return false
}

// changedThen skips "has changed, it's now", "I changed it, the new one is", 换了，新的是 and 我改了，改成. It
// returns the index of their last word, "'s" or "is" or 是, or of 改成, and i if there is nothing of
// the kind.
func changedThen(toks []token, i int) int {
	k, changed, other := i, false, false // other: words in between that say something else
	for ; k < min(len(toks), i+12); k++ {
		switch toks[k].s {
		case "changed", "换", "改", "变", "收":
			if changed && k+1 < len(toks) && (toks[k+1].s == "成" || toks[k+1].s == "为") {
				return k
			}
			changed = true
		case "?", "that", "has", "have", "was", "got", "been", ",", "，", ";", ".", "and", "so", "now", "it", "the", "new", "one", "i", "we", "they", "i've", "we've", "they've", "just", "had", "thing", "…", "...",
			"了", "新", "的", "现", "在", "过", "到":
		case "is", "'s", "是":
			if changed && !other {
				return k
			}
			if k > i && (toks[k-1].s == "it" || toks[k-1].s == "that") { // "a PIN now, it's": without a link the value must look like one
				return k + 1
			}
			return i
		default:
			if other = true; toks[k].kind != 'c' {
				return i
			}
		}
	}
	return i
}

// nowIs returns the token of what a credential is now, if i is after what it was: "my PIN was 4821,
// now it's 7730", 密码以前是4821，现在是7730; 0: there is nothing of the kind.
func nowIs(toks []token, i int) int {
	at := func(k int) string {
		if k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	for ; at(i) == "," || at(i) == "，" || at(i) == ";" || at(i) == "." || at(i) == "and" || at(i) == "but" || at(i) == "now" || at(i) == "但" || at(i) == "现" || at(i) == "在"; i++ {
	}
	switch {
	case at(i) == "it" && (at(i+1) == "'s" || at(i+1) == "is"):
		i += 2
		if at(i) == "now" {
			i++
		}
		return i
	case at(i) == "是" && i > 0 && toks[i-1].s == "在":
		return i + 1
	}
	return 0
}
