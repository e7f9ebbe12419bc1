// API 的错误，按种类（type 的最后一段）。英文用 API 自己的话；种类说不清的，后面带上它的原话。

export const problems: Record<string, string> = {
  "problem.invalid-request": "Locket 看不懂这个请求：{why}", "problem.unauthorized": "这个页面没有登录，或登录已过期。请重新打开控制台。",
  "problem.app-key": "这把应用密钥不对、已撤销或已过期。", "problem.forbidden": "这里不允许这样做。",
  "problem.limit": "次数已到上限，请稍后再试。",
  "problem.not-found": "没有找到，可能已经不在了。", "problem.no-such-route": "这个 Locket 没有这项功能，可能版本较旧。", "problem.method-not-allowed": "这个 Locket 没有这项功能，可能版本较旧。",
  "problem.ambiguous": "有不止一条符合：{why}", "problem.conflict": "现在还不能这样做：{why}",
  "problem.plan-gone": "这份预览已用过或已过期，请再看一次。", "problem.too-large": "太大了，Locket 不接收。", "problem.unsupported-media-type": "Locket 不接收这种文件。",
  "problem.host-not-allowed": "这个地址不是运行 Locket 的电脑。", "problem.secret": "里面有密码之类的秘密，不能放在这里。", "problem.invalid": "填写的内容不行：{why}",
  "problem.vault-locked": "保险库已锁上，请先打开它。", "problem.locked": "Locket 已锁定。", "problem.not-yours": "这份文件不是由你的设备签名的。",
  "problem.relay": "中继没有做成：{why}", "problem.engine": "引擎没有做成：{why}", "problem.misheard": "引擎没有听对或读对样本：{why}", "problem.internal": "Locket 出错了，详情在它的日志里。",
  "problem.unsupported": "这个 Locket 做不到：{why}", "problem.no-space": "磁盘空间不够了。", "problem.cold": "它不在这台设备上，现在也取不回来。",
};
