// The type of the one function of HTM.
declare const htm: { bind(h: (...values: any[]) => any): (strings: TemplateStringsArray, ...values: any[]) => any };
export default htm;
