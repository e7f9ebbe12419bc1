package sight

import "strings"

// tesseractNames are Tesseract's names of languages, by the main tags of BCP 47 (tessdata's files;
// Debian's packages are called tesseract-ocr-NAME).
var tesseractNames = map[string]string{
	"en": "eng", "zh": "chi_sim", "yue": "chi_tra", "de": "deu", "es": "spa", "ru": "rus", "ko": "kor", "fr": "fra", "ja": "jpn", "pt": "por",
	"tr": "tur", "pl": "pol", "nl": "nld", "ar": "ara", "sv": "swe", "it": "ita", "id": "ind", "hi": "hin", "fi": "fin", "vi": "vie",
	"he": "heb", "uk": "ukr", "el": "ell", "cs": "ces", "sk": "slk", "sl": "slv", "hr": "hrv", "sr": "srp", "bg": "bul", "ro": "ron", "da": "dan",
	"hu": "hun", "no": "nor", "nb": "nor", "nn": "nor", "th": "tha", "ur": "urd", "bn": "ben", "fa": "fas", "ta": "tam", "ca": "cat", "et": "est",
	"lv": "lav", "lt": "lit", "ga": "gle", "is": "isl",
}

// TesseractNames returns Tesseract's names of languages by their BCP 47 tags. For a tag that is not
// in the table, the main tag is kept, which is Tesseract's name if it has three letters.
func TesseractNames(tags []string) (names []string) {
	for _, tag := range tags {
		main, rest, _ := strings.Cut(tag, "-")
		name, ok := tesseractNames[main]
		switch {
		case !ok:
			name = main
		case main == "zh" && (rest == "TW" || rest == "HK" || rest == "MO" || strings.HasPrefix(rest, "Hant")):
			name = "chi_tra"
		}
		names = append(names, name)
	}
	return names
}
