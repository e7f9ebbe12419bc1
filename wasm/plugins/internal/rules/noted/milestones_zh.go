package noted

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// milestoneOfZh is a Chinese verb with its possible objects. There are no nouns if the verb is
// enough.
type milestoneOfZh struct {
	verb  string
	once  string // the verb for a deed at some time: 出过车祸, 骨折过
	nouns []string
}

var milestonesZh = func() (all []milestoneOfZh) {
	for line := range strings.SplitSeq(`申请 签证 贷款 奖学金 助学金 居留 绿卡 护照 房贷 公租房 工作 职位
退 健身卡 会员 年卡 月卡 票 房 课 鞋 靴子 衣服 裙子 裤子 外套 快递
停 宽带 会员 健身卡 保险 社保 手机号
取消 会员 订阅 订单
办 健身卡 会员卡 签证 护照 身份证 驾照 居住证 银行卡 信用卡 门禁卡
订 机票 酒店 民宿 车票 火车票 门票 桌子 椅子 床 沙发 衣柜 冰箱 窗帘 眼镜
交 论文 房租 押金 罚款 税 学费 物业费 保险
写 论文 诗 小说 歌 遗嘱 报告 书
改 密码 名字
换 锁 密码 专业 学校 班级
开始 健身 治疗 化疗 理疗 减肥 创业 心理咨询
刷 厨房 客厅 卧室 墙 房间
种 西红柿 番茄 土豆 玫瑰 郁金香 草莓 大蒜 洋葱 树 黄瓜 辣椒 薄荷
切到 手
割到 手
划伤
烫伤
拉伤
扭到
崴
骨折
脱臼
摔断
摔倒
晕倒
中暑
割伤
脚扭了
腰扭了
食物中毒
出车祸
出了车祸
做了手术
动了手术
动手术
开刀了
跳槽
入职
转正
退学
休学
转学
挂科
得奖
求婚
失恋
脱单
出轨
改名
入党
提车了
当爸了
当爸爸了
当妈了
当妈妈了
过世
去世
闪 腰
被 解雇 开除 裁了 裁员 偷 抢了 抢劫 罚 拒 录取 拖走 骗 狗咬 猫抓 车撞 甩 起诉 蜇
丢 钱包 身份证 手机 钥匙 护照 行李 耳机 眼镜
钱包丢
身份证丢
手机丢
钥匙丢
护照丢
行李丢
补 牙
拔 牙 智齿
剪 头发
烫 头发
染 头发
献血
打 疫苗
跑 马拉松 半马 全马
看 奶奶 爷爷 外婆 外公 姥姥 姥爷
误 火车 飞机 航班 高铁 班车
错过 火车 飞机 航班 高铁 末班车 考试 面试
睡过头
忘带
忘了带
学会 游泳 开车 滑雪 骑 织 弹 唱 做
投诉 物业 房东 邻居 航空公司 银行 快递
报警了
报了警
做了 手术 化疗
动了 手术
开了刀
住了院
离了婚
怀了孕
坐了牢
得了 肺炎 肺结核 癌症 新冠 水痘 肝炎
中了风
流了产
割了 阑尾 扁桃体
摘了 胆囊
破产了
留了学
找到 工作 房子 钱包 钥匙 护照
摔 跤
贷了款
寄 发票 申请 包裹 合同 简历 材料
分手
复合了
吵架了
和好了
停电
停水
漏水
仓鼠死
猫死
狗死
兔子死
乌龟死
金鱼死
请 保洁 保姆 月嫂 家教 律师
雇 保洁 保姆 月嫂 家教 律师
刮 车
撞 车
给车加了 油
给车换了 机油 轮胎 电瓶 雨刷
追尾`, "\n") {
		verb, of, _ := strings.Cut(line, " ")
		once := strings.Replace(verb, "了", "过", 1)
		if once == verb {
			once += "过"
		}
		all = append(all, milestoneOfZh{verb, once, strings.Fields(of)})
	}
	return all
}()

// milestoneZh reports whether a clause is a milestone of the speaker's or of a thing of theirs:
// 我扭伤了脚, 我们分手了.
func milestoneZh(x string) bool {
	switch before, deed, ok := strings.Cut(discourse.TrimZhEnd(x), "我"); {
	case !ok || before == "":
	case syntax.EndsWithAny(strings.TrimRight(before, "，, "), []string{"的时候", "那年", "有一次", "有次", "年前", "小时候", "大学时", "高中时", "有一回"}):
		x = "我" + deed // 有一次我在机场丢了护照
	case utf8.RuneCountInString(before) <= 4 && utf8.RuneCountInString(deed) <= 3 && !strings.ContainsAny(deed, "得该能会忘说想要"):
		x = "我" + deed + before // 房租我交了
	}
	if syntax.StartsWithAny(x, justZh) {
		x = "我" + x
	}
	if !strings.HasPrefix(x, "我") || !strings.Contains(x, "了") && !strings.Contains(x, "过") || syntax.ContainsAny(milestoneWordsZh.Replace(x), "看了看", "照片", "看见", "看到", "梦", "不", "没", "要", "想", "打算", "准备", "快", "差点", "你", "您", "别", "死了我", "累死", "笑死", "热死", "饿死", "困死", "气死") {
		return false
	}
	once := !strings.Contains(x, "了")
	for _, m := range milestonesZh {
		verb := m.verb
		if once {
			verb = m.once
		}
		if _, rest, ok := strings.Cut(x, verb); ok && (len(m.nouns) == 0 && !strings.HasPrefix(rest, "的") || nearZh(rest, m.nouns)) {
			return true
		}
	}
	return false
}

// justZh are beginnings of what the speaker has just done: 刚给车加了油.
var justZh = []string{"刚给", "刚刚给", "刚把", "刚刚把", "刚换了", "刚刚换了"}

// milestoneWordsZh removes the words in which 不, 别, 要 and 想 do not deny or wish anything.
var milestoneWordsZh = syntax.Compounds("不小心 特别 重要 主要 理想 快递 不得不 想法")

// nearZh reports whether one of the nouns is within a few characters of the verb before x.
func nearZh(x string, nouns []string) bool {
	const most = 6 // characters between them: 一份三年的
	for _, noun := range nouns {
		if before, _, ok := strings.Cut(x, noun); ok && utf8.RuneCountInString(before) <= most && !strings.ContainsAny(before, "，,。下") {
			return true
		}
	}
	return false
}
