package recall

import "strings"

// placeWords say where something is: nouns for places, and prepositions.
var placeWords = set(`street road avenue lane square corner floor upstairs downstairs drawer shelf cupboard cabinet wardrobe
folder box bag pocket desk table fridge garage cellar attic hallway kitchen bathroom bedroom balcony station airport harbour
park bridge river village city country opposite beside behind underneath nearby`)

// placeHan does the same in Chinese: in, on, beside, under, …, after 在.
var placeHan = setRunes(`里上下旁边前后楼街路室厅柜桌架抽屉`)

// placeVerb are the characters that say where a thing is when they stand before
// 在: put, live, stop, book, hang, hide.
var placeVerb = setRunes(`放住停订挂藏存搁摆坐留落`)

// tail returns the last characters of words as they are written.
func tail(words []word) string {
	var b strings.Builder
	for _, w := range words {
		if w.han && len(w.text) <= len("𠀀") {
			b.WriteString(w.text)
		}
	}
	return b.String()
}

// saysWhere reports whether a text says where something is. times are the words that name a time:
// "on Thursday" is not a place.
func saysWhere(words []word, times map[int]bool) bool {
	at, han := false, false
	var before rune // the previous character, if it is Chinese
	for i, w := range words {
		switch {
		case placeWords[w.text]:
			return true
		case w.han && len(w.text) <= 4:
			r := []rune(w.text)[0]
			if at && placeHan[r] || r == '在' && han && placeVerb[before] || r == '离' && strings.ContainsAny(tail(words[i:]), "米分里") {
				return true
			}
			at = at || r == '在'
			before, han = r, true
		case (w.text == "on" || w.text == "at" || w.text == "in" || w.text == "near" || w.text == "under") && i+1 < len(words) && words[i+1].capital && !times[i+1]:
			return true
		}
	}
	return false
}
