package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A home is a place that one can live in, and an employer is an organisation or
// a person that one can work for. A value of another kind fills neither slot: it
// would end a home or an employer that still holds.

// abode is what a place is to whoever lives there.
type abode byte

const (
	noAbode abode = iota // not a place to live in: fear, the next topic
	passing              // a hotel, a hospital
	dwelling
)

var (
	passings  = set("hotel hostel motel airbnb hospital tent inn guesthouse b&b resort camper campsite clinic hospice")
	dwellings = set("flat house apartment cottage cabin villa studio bungalow loft condo townhouse farm farmhouse boat houseboat caravan dorm dormitory " +
		"bedsit penthouse duplex mansion castle palace barn yurt town city village suburb suburbs countryside neighbourhood neighborhood district street road " +
		"avenue lane square country county island coast mountains woods valley building block estate capital outskirts hills seaside abroad bookshop shop bakery " +
		"pub place house-share flatshare monastery convent commune kibbutz care-home north south east west centre center riverside harbour harbor forest desert parents")
	// rooms are where things are moved to.
	rooms = set("bedroom kitchen garage hallway attic study cellar balcony room corner basement bathroom shed loft corridor lounge shelf drawer cupboard fridge freezer front back " +
		"top bottom end side next topic question item slide level round row table step stage chapter section phase point subject list")
	// posts are where one is put at work: "moved to the Leeds office".
	posts = set("office offices branch team department dept desk division unit site ward role position shift class group account project")
	// states are what one lives in without being anywhere.
	states = set("fear hope pain peace harmony denial poverty luxury comfort sin squalor exile isolation dread misery bliss style private public secret debt shame silence darkness " +
		"past present future moment now here there tears anger sorrow grief doubt limbo chaos fact general person vain conflict love luxury uncertainty")
	// tools are moved to without being moved into.
	tools = set("slack zoom teams linux windows mac android iphone notion github gitlab gmail outlook kubernetes aws azure python rust go java google whatsapp signal telegram discord plan b wayland postgres mysql")
	// organisations are what one works at or for.
	organisations = set("company firm startup start-up library museum hospital school university college bank bakery restaurant cafe café bar pub hotel shop store supermarket factory lab " +
		"laboratory clinic council government ministry agency studio office zoo aquarium airport station church charity ngo newspaper magazine publisher theatre theater gym salon " +
		"garage farm winery brewery practice nursery kindergarten court embassy police department plant mill institute academy centre center foundation authority railway airline " +
		"pharmacy bookshop gallery warehouse consultancy cooperative co-op bbc nhs un eu army navy parliament harbour port refinery dealership chain bureau organisation organization " +
		"corporation group union practice surgery orchestra opera cinema florist butcher tailor hairdresser builder contractor family city state county")
	// workTimes are what follows "at" or "for" after a verb of working and is no employer.
	workTimes = set("night nights home weekend weekends noon midnight present first last once dawn dusk free fun hours hour years year months month weeks week days day money peanuts moment " +
		"ease times lunchtime christmas easter length will least most best all desk computer living change example myself yourself himself herself themselves ourselves me you us them him her it that this")
)

// dwells takes where somebody lives or lived, stays, has moved to, and comes from.
func (t *talk) dwells(c *clause, i int) bool {
	switch c.verb {
	case "live", "reside":
		t.lives(c, i)
	case "stay":
		if o, _ := c.after(i, 2, "in", "at"); c.ing && !c.past {
			t.fact(c, "place", "staying_at", o, false, 0.7)
		}
	case "move", "relocate":
		t.moves(c, i)
	case "come":
		if o, _ := c.after(i, 1, "from"); !c.past {
			t.fact(c, "biography", "origin", o, false, 0.85)
		}
	case "be":
		return t.beenIn(c, i)
	case "grow":
		if o, _ := c.after(i, 3, "in", "on"); c.w(i) == "up" {
			t.fact(c, "biography", "grew_up_in", o, false, 0.9)
		}
	default:
		return false
	}
	return true
}

// lives takes "I live in Graz", "I used to live near the sea", "she lives with Tom".
func (t *talk) lives(c *clause, i int) {
	o, ok := c.after(i, 2, "in", "at", "on", "near", "above")
	switch {
	case !ok:
		with, _ := c.after(i, 2, "with")
		t.fact(c, "relation", "lives_with", with, true, 0.8)
		return
	case c.usedTo:
		t.once(c, "lived_in", o)
		if abodeOf(o, t.plain) != dwelling {
			return
		}
	}
	if k := c.find(i, 2, "on"); k >= 0 && !c.capital(k+1) && abodeOf(o, false) != dwelling {
		return // on coffee
	}
	if c.past && !c.usedTo {
		if abodeOf(o, t.plain) != noAbode {
			t.fact(c, "biography", "lived_in", o, true, 0.75)
		}
		return
	}
	t.settles(c, o, 0.92)
}

// stayed is after how many days whoever has been somewhere lives there.
const stayed = 300

// beenIn takes "I've been in Cardiff for six years".
func (t *talk) beenIn(c *clause, i int) bool {
	in, ok := c.after(i, 0, "in")
	if !ok || !c.perfect || c.neg || !c.capital(i+1) || abodeOf(in, false) != dwelling || trades[strings.ToLower(last(in))] || len(in) < 5 && in == strings.ToUpper(in) && !initialled[in] {
		return false
	}
	for _, w := range c.whens {
		if w.since && w.hasDay && t.now.day-w.day >= stayed {
			t.settles(c, in, 0.8)
			return true
		}
	}
	return false
}

// trades are what one works in, written large.
var trades = set("marketing sales finance engineering research academia politics accounting design logistics education therapy recovery remission retail advertising procurement consulting banking insurance theatre music film")

// initialled are the places among what is written in capitals, such as IT.
var initialled = map[string]bool{"UK": true, "US": true, "USA": true, "UAE": true, "LA": true, "NYC": true, "DC": true}

// moves takes "I moved to Graz", "we moved here from Leeds".
func (t *talk) moves(c *clause, i int) {
	if from, ok := c.after(i, 2, "from"); ok && !c.neg && c.w(i) == "here" {
		t.fact(c, "biography", "lived_in", from, true, 0.8)
		return
	}
	o, ok := c.wentTo(i)
	if !ok || c.neg || vague(o) || !c.past && !c.perfect {
		return
	}
	if posts[strings.ToLower(last(o))] && t.part == Facts { // "my boss moved to the Leeds office"
		t.noteClause(c, c.sentence, !c.perfect, false, notedSure)
		return
	}
	if abodeOf(o, t.plain) != dwelling {
		return
	}
	if inner, ok := c.after(i, 9, "in"); ok && strings.Contains(o, " in ") {
		o = inner
	}
	before := len(t.out.Candidates)
	if t.settles(c, o, 0.85); len(t.out.Candidates) > before {
		t.out.Candidates[before].EventType = "move"
	}
}

// careHomes stand before "home" where it is one for several.
var careHomes = set("care nursing retirement mobile old-age residential foster children's")

// abodeOf tells what the words that follow "live in" or "move to" are; plain
// reports a text without capitals, as speech recognition gives it.
func abodeOf(value string, plain bool) abode {
	value, _, _ = strings.Cut(value, " with ")
	words := strings.Fields(value)
	if len(words) == 0 {
		return noAbode
	}
	head := len(words) // the first noun phrase ends before a preposition
	for i, w := range words {
		if i > 0 && (preposition(w) || w == "of" || w == "from") {
			head = i
			break
		}
	}
	noun := strings.ToLower(words[head-1])
	first := strings.ToLower(words[0])
	// What stands after "of" or "in" is a name: the city of Leeds, a state of panic.
	named := head+1 < len(words) && capitalised(words[len(words)-1])
	switch {
	case passings[noun]:
		return passing
	case noun == "home" && head > 1 && careHomes[strings.ToLower(words[head-2])]:
		return dwelling
	case weekdayOf(first, false) >= 0 || monthOf(first) > 0 && head == 1 && first != "may" && first != "march":
		return noAbode
	case head == 1 && tools[first] || posts[noun] && !named:
		return noAbode
	case capitalised(words[0]):
		return dwelling
	case first[0] >= '0' && first[0] <= '9' && head > 1 && capitalised(words[1]):
		return dwelling // 12 Elm Street
	case rooms[first] || rooms[noun] && !named:
		return noAbode
	case dwellings[noun] || noun == "state" && named || strings.HasSuffix(noun, "'s") || first == "parents'":
		return dwelling
	case states[noun] || states[first]:
		return noAbode
	case plain && head == len(words) && len(words) <= 3:
		return dwelling // new york
	case strings.HasSuffix(value, "parents' place") || head > 1 && capitalised(words[head-1]):
		return dwelling
	}
	return noAbode
}

func capitalised(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// plainText reports a text without any capital.
func plainText(s string) bool { return strings.ToLower(s) == s }

// settles proposes where somebody lives or, in a hotel, stays.
func (t *talk) settles(c *clause, value string, confidence float64) {
	value, _, _ = strings.Cut(value, " with ")
	switch abodeOf(value, t.plain) {
	case dwelling:
		t.fact(c, "residence", "home", value, false, confidence)
	case passing:
		if !c.past && !c.perfect && !c.neg {
			t.fact(c, "place", "staying_at", value, false, 0.7)
		}
	}
}

// wentTo is the object of "to" or "into" where a verb of moving has no object
// of its own: "moved back to Leeds", "moved from Graz to Leeds", and not "moved
// the sofa to the bedroom".
func (c *clause) wentTo(i int) (string, bool) {
	for k := i; k < len(c.words); k++ {
		switch c.w(k) {
		case "to", "into":
			o, _ := c.object(k + 1)
			return o, o != ""
		case "back", "over", "up", "down", "out", "away", "house", "home", "again", "in", "permanently", "together", "here", "just", "recently":
		case "from":
			o := k + 1
			for o < len(c.words) && c.w(o) != "to" && c.w(o) != "into" && c.w(o) != "," {
				o++
			}
			k = o - 1
		default:
			return "", false
		}
	}
	return "", false
}

// employs reports whether value is what one can work for.
func employs(value string, plain bool) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return false
	}
	first := strings.ToLower(words[0])
	if weekdayOf(strings.TrimSuffix(first, "s"), false) >= 0 || monthOf(first) > 0 && first != "may" && first != "march" || workTimes[first] {
		return false
	}
	for i, w := range words {
		if i > 0 && preposition(w) {
			break
		}
		low := strings.ToLower(w)
		if workTimes[low] {
			return false
		}
		if capitalised(w) || organisations[low] || organisations[strings.TrimSuffix(low, "s")] || strings.HasSuffix(low, "'s") {
			return true
		}
	}
	_, number := number(first)
	return plain && len(words) <= 2 && !number
}

// In Chinese what a place is shows at its end.
var (
	passingsZh  = [...]string{"酒店", "宾馆", "民宿", "医院", "旅馆", "旅舍", "招待所", "客栈", "度假村", "病房", "青旅"}
	roomsZh     = [...]string{"卧室", "客厅", "阳台", "书房", "厨房", "车库", "地下室", "楼上", "楼下", "办公室", "院子", "会议室", "房间", "厕所", "浴室", "走廊", "仓库", "角落", "桌上", "柜子", "一起", "前面", "后面", "旁边", "里面", "外面", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "心里", "分公司", "总公司", "总部", "部门", "部", "科室", "团队", "小组", "岗位", "项目组", "班"}
	notFirmsZh  = [...]string{"区", "市", "县", "镇", "省", "路", "街", "村", "市中心", "郊外", "外地", "国外", "海外", "老家", "楼上", "楼下", "路上", "网上", "这里", "那里", "附近", "一起", "晚上", "白天", "周末", "国内", "线上", "家里", "那边", "这边", "夜里"}
	citiesZh    = set("北京 上海 广州 深圳 成都 杭州 南京 武汉 西安 苏州 重庆 天津 长沙 郑州 青岛 大连 厦门 宁波 无锡 合肥 福州 济南 昆明 沈阳 哈尔滨 长春 石家庄 太原 南昌 贵阳 南宁 海口 三亚 珠海 东莞 佛山 香港 澳门 台北 浦东 徐汇 海淀 朝阳 纽约 伦敦 东京 巴黎 柏林 新加坡 旧金山 多伦多 悉尼 首尔 美国 英国 德国 法国 日本 中国 加拿大 家 外面 夜间")
	notPlacesZh = [...]string{"三楼", "二楼", "一楼", "四楼", "五楼"}
)

// abodeZh tells what the place is that somebody lives in or has moved to.
func abodeZh(value string, moved bool) abode {
	value = trimZh(value)
	switch {
	case strings.Trim(clipZh(value), digitsZh+"楼层") == "": // 我家在二楼
		return noAbode
	case endsWithAny(value, passingsZh[:]):
		return passing
	case moved && (endsWithAny(value, roomsZh[:]) || endsWithAny(value, notPlacesZh[:])) || value == "一起" || strings.HasSuffix(value, "心里"):
		return noAbode
	}
	return dwelling
}

// employsZh reports whether one can work for value: a district is where one works.
func employsZh(value string) bool {
	value = trimZh(value)
	return value != "" && !citiesZh[value] && !endsWithAny(value, notFirmsZh[:]) && !strings.HasSuffix(value, "号")
}
