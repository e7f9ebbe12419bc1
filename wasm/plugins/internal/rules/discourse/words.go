package discourse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// PetsZh are animals that people keep.
var PetsZh = [...]string{"猫", "狗", "兔子", "仓鼠", "鹦鹉", "乌龟", "金鱼", "小鸟"}

// HoldsWord reports whether text, in lower case, has the word; a Chinese word may be anywhere.
func HoldsWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if word[0] >= 0x80 || !syntax.LetterAt(text, i-1) && (!syntax.LetterAt(text, i+len(word)) || text[i+len(word)] == 's' && !syntax.LetterAt(text, i+len(word)+1)) {
			return true
		}
		from = i + 1
	}
	return false
}

// Attained are participles for what happened to somebody: "got accepted".
var Attained = syntax.Set("accepted hired fired sacked dumped burgled arrested promoted engaged diagnosed elected invited rejected evicted selected robbed mugged vaccinated nominated licensed divorced adopted admitted fined hit bitten stung")

// passives are participles that say what is done to somebody or something, also with a noun after
// them: "it's called the Bridge".
var passives = syntax.Set("called named closed allowed based considered paid offered promised said deemed thought meant dubbed supposed spelled played")

// Condition are lasting illnesses.
var Condition = syntax.Set("asthma diabetes migraines epilepsy arthritis eczema anaemia anemia hypertension adhd depression insomnia pressure celiac coeliac tinnitus cancer anxiety pacemaker dyslexia autism cholesterol gout sciatica psoriasis endometriosis")

// ThingWord reports whether s is a word for something that people own.
func ThingWord(s string) bool {
	switch s {
	case "car", "bike", "bicycle", "motorbike", "scooter", "boat", "house", "flat", "apartment", "laptop", "phone", "camera", "piano", "guitar", "violin", "garden", "van", "tesla", "kayak", "television", "tv", "dishwasher", "microwave", "freezer", "fridge", "dryer", "oven", "computer", "bathtub", "balcony", "pool", "garage", "cellar", "driveway", "smartphone", "smartwatch",
		"tent", "printer", "drone", "tablet", "watch", "allotment", "cottage", "cabin", "telescope", "keyboard", "drum", "cello", "sofa", "machine", "truck", "e-bike", "caravan", "ukulele", "flute", "surfboard", "kindle", "shop", "company", "car,":
		return true
	}
	return false
}

// Medication is the slot of the medicines that somebody takes.
const Medication = "medication"

// MemberOf is the slot of the clubs, choirs and bands that somebody is in.
const MemberOf = "member_of"

// Sounds are sounds that are transcribed and mean nothing.
var Sounds = syntax.Set("um uh erm er uhm hmm mm mhm ehm")

// Hosts are words after which a clause with its own subject belongs to the previous one: "I think
// we'll go", "the day I moved".
var Hosts = syntax.Set("that if when whenever because while since as what who whom where which how why until till after before think thought know knew say says said hope hoped wish told tell tells than " +
	"thing things time way place day all everything something anything person people guess sure believe bet feel swear promise promised mean meant like whether unless once though although so and but or " +
	"reason moment year week month night reckon suppose heard hear see realise realize noticed remember forgot forget wondering wonder glad afraid sorry worried asked ask decided agreed the a an my your our his her their to of in on at with for from not just also then")

// The confidence of a memory, 0 to 1.
const (
	NotedSure = 0.45
	EventSure = 0.65 // for an event without a stated time
	HoursSure = 0.65 // for what is true every day or week: it may be true only today
)

// Conditioned reports whether a sentence is true only if something else is.
func Conditioned(s syntax.Sentence) bool {
	for i := range s.Toks {
		switch s.At(i) {
		case "if", "unless", "如", "whether":
			return true
		}
	}
	return false
}

// Feelings say how somebody is just now, or what they think of a thing.
var Feelings = syntax.Set("happy glad sad sorry sure afraid excited tired proud grateful thankful fine good great nice ok okay well lucky ready busy hungry thirsty cold hot late early back here there so " +
	"such really very just not amazing awesome lovely interested curious impressed honored honoured blessed pleased hopeful stoked pumped psyched keen right wrong able going trying looking feeling " +
	"thinking wondering hoping kidding joking serious crazy stuck bored lost confused worried nervous scared jealous true done all always quite pretty super too still only also important special cool fun hard tough")

// Capitalised reports whether a text begins with a capital.
func Capitalised(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// PlainText reports a text without any capital.
func PlainText(s string) bool {
	return !strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ToLower(s) == s
}

// CitiesZh are cities that are named without 市, provinces, countries, and words for where nobody is employed.
var CitiesZh = syntax.Set("北京 上海 广州 深圳 成都 杭州 南京 武汉 西安 苏州 重庆 天津 长沙 郑州 青岛 大连 厦门 宁波 无锡 合肥 福州 济南 昆明 沈阳 哈尔滨 长春 石家庄 太原 南昌 贵阳 南宁 海口 三亚 珠海 东莞 佛山 香港 澳门 台北 新北 桃园 台中 台南 高雄 新竹 嘉义 基隆 花莲 台东 屏东 宜兰 苗栗 彰化 兰州 西宁 银川 拉萨 贵州 常州 南通 徐州 扬州 泰州 盐城 绍兴 嘉兴 湖州 台州 金华 温州 义乌 泉州 漳州 莆田 烟台 威海 潍坊 淄博 洛阳 开封 襄阳 宜昌 株洲 岳阳 衡阳 惠州 中山 汕头 湛江 江门 肇庆 桂林 柳州 绵阳 德阳 乐山 宜宾 遵义 大理 丽江 咸阳 宝鸡 包头 大庆 吉林 鞍山 唐山 保定 秦皇岛 廊坊 芜湖 蚌埠 赣州 九江 浦东 徐汇 海淀 朝阳 纽约 伦敦 东京 巴黎 柏林 新加坡 旧金山 多伦多 悉尼 首尔 美国 英国 德国 法国 日本 中国 加拿大 澳大利亚 新西兰 韩国 泰国 意大利 西班牙 荷兰 瑞士 瑞典 俄罗斯 马来西亚 印度 欧洲 非洲 云南 四川 广东 广西 福建 浙江 江苏 山东 山西 河南 河北 湖南 湖北 江西 安徽 陕西 甘肃 青海 新疆 西藏 内蒙古 辽宁 黑龙江 海南 家 外面 夜间")

// heardZh returns a statement without lead words that keeps 听说, because nobody vouches for it.
func heardZh(text string) string {
	text = strings.TrimLeft(text, " ，,、")
	bare := syntax.StripLeadZh(text)
	if strings.Contains(text[:len(text)-len(bare)], "听说") {
		return "听说" + bare
	}
	return bare
}

// onlyHeard reports whether "I heard" is directly before a byte of the clause.
func (c *Clause) onlyHeard(at int) bool {
	lead := strings.TrimRight(strings.ToLower(c.Text[c.Start:max(c.Start, at)]), " ,")
	return strings.HasSuffix(strings.TrimSuffix(lead, " that"), "i heard")
}

// ObjectOf returns the object that begins at word i, or "".
func ObjectOf(c *Clause, i int) string {
	o, _ := c.Object(i)
	return o
}

// Trade reports whether a word names somebody's trade or position.
func Trade(w string) bool {
	switch w {
	case "nurse", "doctor", "teacher", "engineer", "designer", "lawyer", "chef", "cook", "baker", "pilot", "student", "accountant", "architect", "artist", "writer", "author", "musician",
		"carpenter", "plumber", "electrician", "mechanic", "journalist", "scientist", "researcher", "professor", "consultant", "translator", "interpreter", "waiter", "waitress", "barista",
		"programmer", "developer", "dentist", "vet", "midwife", "paramedic", "firefighter", "farmer", "gardener", "photographer", "librarian", "freelancer", "lecturer", "surgeon", "pharmacist",
		"physicist", "chemist", "biologist", "analyst", "director", "ceo", "cto", "cfo", "founder", "head", "secretary", "clerk", "cashier", "tailor", "actor", "actress", "singer", "dancer", "coach",
		"psychologist", "therapist", "producer", "manager", "editor", "driver", "butcher", "florist", "violinist", "pianist", "gp", "intern", "apprentice", "postman", "soldier", "policeman", "volunteer", "tutor", "estate-agent", "agent", "technician", "curator", "optician", "fisherman", "miner", "sailor", "builder", "joiner", "welder", "priest", "judge", "banker", "diplomat", "cleaner", "receptionist", "blacksmith", "seamstress", "shoemaker", "bricklayer", "roofer", "caretaker", "headteacher", "nanny":
		return true
	}
	return false
}

var Asking = syntax.Set("do does did is are was were has have can could will would should shall")

// WordsOwn are pronouns of the first person.
var WordsOwn = syntax.Set("my our us me mine")

// Thirds are pronouns of the third person.
var Thirds = syntax.Set("he she they")

// RoutineSlot returns the slot of something that somebody does regularly.
func RoutineSlot(what string) string { return "routine: " + what }

// TimesOf returns the slot of when somebody takes a medicine without a stated dose.
func TimesOf(drug string) string { return RoutineSlot("take " + strings.ToLower(drug)) }

// MailIn returns the mail address at the beginning of a text.
func MailIn(s string) string {
	s, _, _ = strings.Cut(s, " ")
	s = strings.TrimRight(s, ".,;!")
	name, host, ok := strings.Cut(s, "@")
	if !ok || name == "" || strings.ContainsRune(host, '@') || !strings.Contains(strings.Trim(host, "."), ".") {
		return ""
	}
	return s
}
