declare module "worker-source" {
  const text: string;
  export default text;
}
