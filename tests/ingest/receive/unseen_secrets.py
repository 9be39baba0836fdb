"""Secrets in the shapes of configuration files, commands and addresses, and innocent texts beside.

The texts are made from a seed. They are other shapes than those of `hard_values`, so they measure
the redaction and do not only repeat its rules.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from dataclasses import dataclass

_WORDS = ("orders", "customers", "flights", "sales_daily", "dim_store", "web_events", "stg_users")
_HOSTS = ("db-1.internal", "warehouse.example.com", "10.0.4.17", "cluster-a.eu-west-1.example.net")
_ALNUM = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Planted:
    """A text of a class, and the secret in it; "" for an innocent text."""

    kind: str
    text: str
    secret: str


# A template; {p} is a password, {w} a token of letters and digits, {x} hex digits, {b} base64.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "headers": (
        "AUTHORIZATION: Basic {b}",
        "authorization:Bearer {w}",
        'Authorization : Digest username="etl", response="{x}"',
        "authorization: ApiKey {b}",
        "> Authorization: Negotiate {b}\r\n> Accept: */*",
        "-H authorization:{w}",
        "headers={{'Authorization': 'Basic {b}'}}",
        'headers = {{"X-Auth-Token": "{w}"}}',
        "x-amz-security-token: {b}",
        "X-Vault-Token: hvs{w}{w}",
        "PRIVATE-TOKEN: {w}",
        "Ocp-Apim-Subscription-Key: {x}",
        "x-functions-key: {b}",
        "X-API-KEY={w}",
        "Api-Key: {w}",
        "DD-API-KEY: {x}",
        "x-goog-api-key: {w}",
        "cookie: JSESSIONID={x}; path=/",
        "Set-Cookie: connect.sid=s%3A{w}.{w}; HttpOnly",
        "'Cookie': 'sessionid={w}'",
    ),
    "yaml": (
        "db:\n  user: etl\n  pass: {p}\n",
        "db:\n  password: >-\n    {p}\n  user: x\n",
        "db:\n  password: !!str {p}\n",
        "db: {{user: etl, password: {p}}}",
        "db: {{user: etl, pass: {p}}}",
        "- name: DB_PASSWORD\n  value: {p}\n",
        '- name: DB_PASSWORD\n  value: "{p}"\n',
        "env:\n  - name: API_TOKEN\n    value: {w}\n",
        "apiVersion: v1\nkind: Secret\ndata:\n  password: {b}\n",
        "apiVersion: v1\nkind: Secret\nstringData:\n  pw: {p}\n",
        "password: &pw {p}\nother: *pw\n",
        "outputs:\n  dev:\n    type: postgres\n    pass: {p}\n    port: 5432\n",
        "private_key_passphrase: {p}",
        "secret_key_base: {x}",
        "client_secret: {p}\nredirect: x",
        '"password" : "{p}"',
        "passwd: {p}",
    ),
    "dotenv": (
        "DB_PASS={p}",
        "export PGPASSWORD={p}",
        "MYSQL_PWD={p}",
        "SNOWSQL_PWD='{p}'",
        'DATABASE_PASSWORD="{p}"\nDEBUG=1',
        "AWS_SECRET_ACCESS_KEY={b}",
        "AWS_SESSION_TOKEN={b}",
        "set ORACLE_PASS={p}",
        '$env:DB_PASSWORD = "{p}"',
        "ENV REDIS_AUTH={p}",
        "REDIS_AUTH={p}",
        "SMTP_PASS={p}",
        "JWT_SIGNING_KEY={x}",
        "DJANGO_SECRET={w}",
        "FERNET_KEY={b}",
        "AIRFLOW__CORE__FERNET_KEY={b}",
        "ENCRYPTION_KEY={x}",
        "TF_VAR_db_pw={p}",
        "DB_PW={p}",
    ),
    "ini": (
        "[db]\nuser = etl\npassword = {p}\n",
        "[db]\npass = {p}\n",
        "[client]\nuser=root\npassword={p}\nhost=h",
        "machine api.example.com login etl password {p}",
        "db-1.internal:5432:orders:etl:{p}",
        "spark.hadoop.fs.s3a.secret.key={b}",
        "spark.hadoop.fs.s3a.secret.key {b}",
        "spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net {b}",
        "spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net={b}",
        'sasl.jaas.config=org.example.PlainLoginModule required username="etl" password="{p}";',
        "ssl.keystore.password={p}",
        "ssl.key.password : {p}",
        "//registry.example.com/:_authToken={w}",
        "//registry.example.com/:_password={b}",
        "_auth={b}",
        "javax.jdo.option.ConnectionPassword={p}",
        "requirepass {p}",
        "masterauth {p}",
    ),
    "xml": (
        "<password>{p}</password>",
        "<property><name>javax.jdo.option.ConnectionPassword</name><value>{p}</value></property>",
        "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>{b}</value>\n</property>",
        "<server><id>r</id><username>etl</username><password>{p}</password></server>",
        '<add key="ApiKey" value="{w}"/>',
        '<add name="Db" connectionString="Server=h;User Id=etl;Password={p};"/>',
        '<user name="etl" password="{p}"/>',
        "<entry key='db.password'>{p}</entry>",
        '<wsse:Password Type="PasswordText">{p}</wsse:Password>',
        "<secretKey><![CDATA[{w}]]></secretKey>",
        "<apiToken>{w}</apiToken>",
    ),
    "hcl": (
        'variable "db_password" {{\n  default = "{p}"\n}}',
        'password = "{p}"',
        'admin_password        = "{p}"',
        "master_password = <<EOF\n{p}\nEOF",
        'secret_string = "{p}"',
        'token = "{w}"',
        'access_key = "{w}"\nsecret_key = "{b}"',
        'client_secret="{p}"',
    ),
    "commands": (
        "curl -u 'etl:{p}' https://h/x",
        "curl --user=etl:{p} https://h/x",
        "curl -sSu etl:{p} https://h/x",
        'curl -H "Authorization: Basic {b}" https://h',
        "curl -d 'grant_type=password&username=a&password={p}' https://h",
        'curl -d \'{{"user":"a","password":"{p}"}}\' https://h',
        "curl -F client_secret={w} https://h",
        "wget --user=etl --password={p} https://h/f",
        "wget --http-password {p} https://h/f",
        'psql "host=h user=etl password={p} dbname=x"',
        "PGPASSWORD='{p}' psql -h h -U etl",
        "psql postgresql://etl:{p}@h/x",
        "mysql -uroot -p{w} shop",
        "mysql --password={p} -u root",
        "mysqldump -u root --password '{p}' shop",
        "MYSQL_PWD={p} mysqldump shop",
        "snowsql -a acct -u etl --password {p}",
        "sqlcmd -S h -U sa -P {p} -Q 'select 1'",
        "bcp db.t out f -S h -U sa -P{p}",
        "sqlplus scott/{w}@orcl",
        "sqlplus -s scott/{w}@//h:1521/orcl",
        "expdp system/{w} full=y",
        "impala-shell -i h -u etl --ldap_password_cmd='echo -n {w}'",
        "beeline -u jdbc:hive2://h:10000 -n etl -p {w}",
        "sqoop import --connect jdbc:mysql://h/x --username etl --password {p}",
        "mongosh --host h -u etl -p {w}",
        "mongo h/db -u etl --password {w}",
        "redis-cli -a {w} ping",
        "redis-cli --pass {w} ping",
        "redis-cli AUTH {w}",
        "AUTH default {w}",
        "aws configure set aws_secret_access_key {b}",
        "aws --secret-access-key {b} s3 ls",
        "aws redshift create-cluster --master-user-password {p}",
        "az login --service-principal -u app -p {p} --tenant t",
        "az storage blob list --account-key {b}",
        "az storage blob list --sas-token 'sv=2022-11-02&ss=b&sig={b}'",
        "gcloud auth activate --key-file-password {p}",
        "docker login -u etl -p {w} registry.example.com",
        "echo {w} | docker login -u etl --password-stdin",
        "kubectl create secret generic s --from-literal=password={p}",
        "kubectl create secret generic s --from-literal=db={w}",
        "helm install x --set auth.password={p}",
        "helm install x --set db.pass={w}",
        "openssl enc -aes-256-cbc -k {w} -in f",
        "openssl rsa -passin pass:{w} -in key.pem",
        "keytool -storepass {w} -keystore k.jks",
        "keytool -keypass {w} -keystore k.jks",
        "zip -P {w} out.zip f",
        "7z x a.7z -p{w}",
        "ftp: lftp -u etl,{w} sftp://h",
        "ldapsearch -D cn=etl -w {w} -b dc=x",
        "smbclient //h/s -U etl%{w}",
        "net use Z: \\\\h\\s {w} /user:etl",
        "kinit etl <<< {w}",
        "vault login {w}",
        "vault kv put secret/db password={p}",
        "clickhouse-client --user etl --password {p}",
        "trino --user etl --password={w}",
        "htpasswd -b file etl {w}",
        "echo '{w}' | kinit etl@EXAMPLE.COM",
        "sshpass -p'{w}' ssh h",
        "databricks configure --token {w}",
        'dbt run --vars \'{{"pw": "{w}"}}\'',
    ),
    "urls": (
        "postgresql+psycopg2://etl:{p}@h:5432/x",
        "mysql+pymysql://etl:{p}@h/x?charset=utf8",
        "mssql+pyodbc://etl:{p}@dsn",
        "snowflake://etl:{p}@acct/db/schema?warehouse=w",
        "oracle+cx_oracle://scott:{p}@h:1521/?service_name=s",
        "mongodb://etl:{p}@h1:27017,h2:27017/x?replicaSet=r",
        "mongodb+srv://etl:{p}@c.example.net/x",
        "redis://:{p}@h:6379/0",
        "rediss://default:{p}@h:6380",
        "amqp://etl:{p}@h:5672/vhost",
        "amqps://etl:{p}@h/%2F",
        "ftp://etl:{p}@h/f",
        "sftp://etl:{p}@h:22/f",
        "https://etl:{p}@h/path?x=1",
        "https://{w}@github.com/o/r.git",
        "https://{w}:x-oauth-basic@github.com/o/r.git",
        "clickhouse://etl:{p}@h:9000/x",
        "trino://etl:{p}@h:443/c",
        "ldap://cn=etl:{p}@h",
        "kafka://etl:{p}@h:9092",
        "https://h/x?api_key={w}&y=1",
        "https://h/x?apikey={w}",
        "https://h/x?access_token={w}#f",
        "https://h/x?key={w}",
        "https://h/x?code={w}",
        "https://h/x?auth={w}",
        "https://h/cb#access_token={w}&token_type=bearer",
        "https://h/x?pwd={w}",
        "https://h/x?passwd={w}",
        "https://h/x?sessionid={w}",
        "https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/{w}{h}",
        "https://discord.com/api/webhooks/123456789012345678/{w}{w}",
        "https://o1.example.webhook.office.com/webhookb2/guid/IncomingWebhook/{x}{x}",
    ),
    "jdbc and odbc": (
        "jdbc:postgresql://h/x?user=etl&password={p}",
        "jdbc:sqlserver://h:1433;databaseName=x;user=sa;password={p};encrypt=true",
        "jdbc:sqlserver://h;user=sa;password={{{p}}};",
        "jdbc:oracle:thin:scott/{w}@h:1521:orcl",
        'jdbc:oracle:thin:scott/"{w}"@h:1521:orcl',
        "jdbc:snowflake://acct/?user=etl&password={p}",
        "jdbc:snowflake://acct/?user=etl&private_key_file_pwd={p}",
        "jdbc:redshift://h:5439/x;UID=etl;PWD={p}",
        "jdbc:databricks://h:443;AuthMech=3;UID=token;PWD={w}",
        "jdbc:databricks://h:443;AuthMech=11;Auth_AccessToken={w}",
        "jdbc:hive2://h:10000/x;user=etl;password={p}",
        "jdbc:hive2://h:10000/x;sslTrustStorePassword={p}",
        "jdbc:db2://h:50000/x:user=etl;password={p};",
        "jdbc:teradata://h/USER=etl,PASSWORD={p}",
        "jdbc:mysql://etl:{p}@h/x",
        "jdbc:mysql://address=(host=h)(user=etl)(password={p})/x",
        "DRIVER={{SQL Server}};SERVER=h;UID=sa;PWD={p};",
        "Driver=ODBC;Server=h;Uid=etl;Pwd='{p}';",
        'Provider=SQLOLEDB;Data Source=h;User ID=sa;Password="{p}";',
        "Server=tcp:h,1433;User ID=a;Password={p};Encrypt=True",
        "DSN=x;UID=etl;PASSWORD={p}",
        'create_engine("postgresql://etl:{p}@h/x")',
        "psycopg2.connect(host='h', user='etl', password='{p}')",
        "pymysql.connect(host='h', user='etl', passwd='{p}')",
        "snowflake.connector.connect(user='etl', password=\"{p}\", account='a')",
        "redis.Redis(host='h', password='{p}')",
        "pyodbc.connect('DSN=x', pwd='{p}')",
        "cx_Oracle.connect('scott', '{p}', 'h/orcl')",
        "spark.read.format('jdbc').option('password', '{p}').load()",
        'spark.read.format("jdbc").option("password", "{p}").load()',
        '.option("sfPassword", "{p}")',
        "spark.conf.set('fs.azure.account.key.a.dfs.core.windows.net', '{b}')",
        'sc._jsc.hadoopConfiguration().set("fs.s3a.secret.key", "{b}")',
        "os.environ['DB_PASSWORD'] = '{p}'",
        'os.environ["AWS_SECRET_ACCESS_KEY"]="{b}"',
        "os.environ.setdefault('API_TOKEN', '{w}')",
        "requests.get(u, auth=('etl', '{p}'))",
        "HTTPBasicAuth('etl', '{p}')",
        'props.setProperty("password", "{p}")',
        'System.setProperty("javax.net.ssl.keyStorePassword", "{p}")',
        "conf.put('sasl.password', '{p}')",
        "{{'sasl.username': 'a', 'sasl.password': '{p}'}}",
        "boto3.client('s3', aws_secret_access_key='{b}')",
        'Map("user" -> "etl", "password" -> "{p}")',
        'password := "{p}"',
        "const password = `{p}`;",
        'String password="{p}";',
        "login(user='a', pw='{p}')",
    ),
    "azure": (
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b}==;EndpointSuffix=core.windows.net",
        "Endpoint=sb://h.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={b}=",
        "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey={b}",
        "SharedAccessSignature sr=h&sig={b}&se=1700000000&skn=k",
        "BlobEndpoint=https://a.blob.core.windows.net;SharedAccessSignature=sv=2022&sig={b}",
        "https://a.blob.core.windows.net/c/f?sp=r&st=2024-01-01&se=2025-01-01&sv=2022-11-02&sr=b&sig={b}",
        "?sv=2022-11-02&ss=bfqt&srt=sco&sp=rl&se=2025-01-01T00:00:00Z&sig={b}",
        "AccountEndpoint=https://a.documents.azure.com:443/;AccountKey={b}==;",
        "InstrumentationKey={x};IngestionEndpoint=https://h",
        "wasbs://c@a.blob.core.windows.net/p?sig={b}",
    ),
    "keys": (
        "-----BEGIN RSA PRIVATE KEY-----\n{b}\n{b}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{b}\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n{b}\n-----END ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\\n{b}\\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{b}\n-----END PGP PRIVATE KEY BLOCK-----",
        "key = -----BEGIN PRIVATE KEY----- {b} -----END PRIVATE KEY-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{b}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n{b}\nPrivate-MAC: {x}",
        '{{"type": "service_account", "private_key_id": "{x}", "client_id": "1"}}',
        '{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{b}\\n"}}',
        '{{"refresh_token": "1//0{w}", "type": "authorized_user"}}',
        "jwt eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ{w}.{w}",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ{w}.",
        '{{"kty":"RSA","n":"x","e":"AQAB","d":"{j}"}}',
        '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{b}"}}}}}}',
        '{{"auths":{{"r.example.com":{{"username":"a","password":"{p}"}}}}}}',
    ),
    "sql": (
        "CREATE USER etl WITH PASSWORD '{p}'",
        "CREATE USER etl PASSWORD = '{p}'",
        "ALTER USER etl SET PASSWORD='{p}'",
        "CREATE USER etl IDENTIFIED BY {w}",
        'CREATE USER etl IDENTIFIED BY "{p}"',
        "CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '{p}'",
        "ALTER LOGIN sa WITH PASSWORD = N'{p}'",
        "SET PASSWORD FOR 'a'@'h' = PASSWORD('{p}')",
        "SET PASSWORD FOR 'a'@'h' = '{p}'",
        "GRANT ALL ON *.* TO 'a'@'h' IDENTIFIED BY '{p}'",
        "CREATE DATABASE LINK l CONNECT TO scott IDENTIFIED BY {w} USING 'orcl'",
        "CREATE USER MAPPING FOR etl SERVER s OPTIONS (user 'etl', password '{p}')",
        "COPY t FROM 's3://b' CREDENTIALS 'aws_access_key_id=AKIA;aws_secret_access_key={b}'",
        "COPY INTO t FROM 's3://b' CREDENTIALS=(AWS_KEY_ID='x' AWS_SECRET_KEY='{b}')",
        "COPY INTO t CREDENTIALS=(AZURE_SAS_TOKEN='?sv=2022&sig={b}')",
        "COPY t FROM 's3://b' ACCESS_KEY_ID 'x' SECRET_ACCESS_KEY '{b}'",
        "SELECT * FROM s3('https://b/f.csv', 'AKIAX', '{b}', 'CSV')",
        "CREATE SECRET (TYPE S3, KEY_ID 'x', SECRET '{b}')",
        "SELECT * FROM dblink('host=h user=a password={p}', 'select 1')",
        "SELECT pgp_sym_decrypt(c, '{p}') FROM t",
        "SELECT AES_DECRYPT(c, '{p}') FROM t",
        "CREATE STORAGE INTEGRATION i AZURE_CLIENT_SECRET = '{p}'",
        "SET s3_secret_access_key='{b}'",
        "ATTACH 'dbname=x user=a password={p}' AS p (TYPE postgres)",
        "CREATE EXTERNAL DATA SOURCE d WITH (CREDENTIAL_SECRET = '{p}')",
        "CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY='a', SECRET='{p}'",
        "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '{p}'",
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD='{p}'",
        "UNLOAD ('select 1') TO 's3://b' ACCESS_KEY_ID '<x>' SECRET_ACCESS_KEY '{b}' SESSION_TOKEN 't'",
        "DEFINE PASSWORD = {p}",
        "\\connect dbname=x password={p}",
    ),
    "messages": (
        "FATAL: password authentication failed for user etl (password: {p})",
        "Login failed with password '{p}'",
        "Invalid API key: {w}1",
        "Incorrect API key provided: sk-{w}{w}1A",
        "The AWS Access Key Id AKIA{u} does not exist in our records",
        "token={w} expired",
        "token '{w}1' is expired",
        "refresh token {w}{w} was revoked",
        "user=etl pw={p} denied",
        "Caused by: java.sql.SQLException: jdbc:mysql://h/x?user=a&password={p}",
        "ERROR 401 for https://h/x?sig={b}&se=1",
        "credentials {{user: a, secret: {p}}}",
        "args: ['--password', '{p}']",
        "argv: --db-password {p} --verbose",
        'bad secret "{p}" for client',
        "passphrase for key was {p}",
        "the password is {p}",
        "password is: {p}",
        "pwd -> {p}",
    ),
    "vendors": (
        "AKIA{u}",
        "ASIA{u}",
        "ghp_{w}{w}123456",
        "gho_{w}{w}123456",
        "glpat-{w}1234",
        "xoxp-123456789012-123456789012-{w}",
        "xoxe.xoxp-1-{w}{w}",
        "xapp-1-A0123456789-1234567890123-{x}{x}",
        "sk_live_{w}12345678",
        "rk_test_{w}12345678",
        "whsec_{w}{w}",
        "SG.{w}123456.{w}{w}12345678901",
        "key-{x}{x}",
        "npm_{w}{w}1234",
        "pypi-AgEIcHlwaS5vcmc{w}{w}{w}{w}{w}",
        "hf_{l}{l}AB",
        "dapi{x}{x}",
        "dckr_pat_{w}12345678901",
        "sq0csp-{w}12345678901{w}",
        "shpat_{x}{x}",
        "EAACEdEose0cBA{w}{w}",
        "ya29.{w}{w}",
        "AIza{w}{w}123",
        "GOCSPX-{w}123456789012",
        "1//0{w}{w}{w}",
        "sk-ant-api03-{w}{w}{w}{w}{w}1234567890123AA",
        "sk-proj-{w}{w}{w}",
        "hvs.{w}{w}{w}{w}{w}{w}",
        "dop_v1_{x}{x}{x}{x}",
        "NRAK-{u}{v}",
        "NRAA-{x}{x}123",
        "PMAK-{x}12345678-{x}{x}12",
        "figd_{w}{w}12345678",
        "lin_api_{w}{w}12345678",
        "ntn_12345678901{w}{w}123",
        "secret_{w}{w}12345678901",
        "pat{r}.{x}{x}{x}{x}",
        "tskey-auth-{w}-{w}{w}",
        "AGE-SECRET-KEY-1{q}",
        "ABSK{w}{w}{w}{w}{w}{w}{w}ab",
        "xkeysib-{x}{x}{x}{x}-{w}",
        "re_{w}_{w}12345678",
        "sbp_{x}{x}12345678",
        "dp.pt.{w}{w}12345678901",
        "glsa_{w}{w}_{h}",
        "pscale_pw_{w}{w}",
        "r8_{w}{w}12345",
        "gsk_{w}{w}{w}1234",
        "pplx-{w}{w}{w}",
        "nvapi-{w}{w}{w}{w}",
        "tvly-{w}{w}",
        "atlasv1: {w}.atlasv1.{w}{w}{w}{w}",
        "ATATT3xFfGF0{w}{w}{w}{w}{w}{w}{w}",
        "BBDC-{w}{w}1234",
        "ops_eyJ{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}",
    ),
}

# Personal data; the second value of each maker is what must not remain.
PERSONS: dict[str, tuple[str, ...]] = {
    "e-mail": (
        "mail {m}",
        "<{m}>",
        "mailto:{m}?subject=x",
        '"Ann Doe" <{m}>',
        "user={m}&x=1",
        "{m}, {m}",
        "contact:{m}.",
        "Failed for '{m}'",
        "SELECT * FROM t WHERE email = '{m}'",
        "https://h/u/{m}/x",
        "to={k}",
        "https://h/x?email={k}",
        "email:{t}",
        "e-mail {i}",
        "({m})",
        "[{m}](mailto:{m})",
    ),
    "card": ("card {c}", "paid with {d}", "pan={c};", "card number {e}"),
    "iban": ("iban {a}", "pay to {g}", "IBAN:{a}", "acct={a};"),
    "phone": ("call +49 30 {n}", "tel:+4930{n}", "phone +49 (30) {n}, home"),
    "ssn": ("ssn {s}", "SSN: {s}", "({s})"),
}


def planted(seed: int) -> list[Planted]:
    """Return every template with secrets made from a seed."""
    chance = random.Random(seed)
    found = []
    for kind, templates in (TEMPLATES | PERSONS).items():
        for template in templates:
            values = _values(chance)
            used = [value for name, value in values.items() if f"{{{name}}}" in template]
            found.append(Planted(kind, template.format(**values), max(used, key=len)))
    return found


def _values(chance: random.Random) -> dict[str, str]:
    def pick(letters: str, count: int) -> str:
        return "".join(chance.choices(letters, k=count))

    def digit_and(letters: str, count: int) -> str:
        return pick(letters, count - 1) + pick(string.digits, 1)

    card = _card(chance)
    iban = _iban(chance)
    user = pick(string.ascii_lowercase, 8)
    return {
        "p": pick(_ALNUM, 5) + pick("-_.!", 1) + digit_and(_ALNUM, 6),
        "w": "aK" + digit_and(_ALNUM, 14),
        "r": pick(_ALNUM, 14),
        "x": pick("0123456789abcdef", 16),
        "b": base64.b64encode(chance.randbytes(32)).decode().rstrip("="),
        "j": base64.urlsafe_b64encode(chance.randbytes(64)).decode().rstrip("="),
        "u": pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "v": pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 11),
        "l": pick(string.ascii_letters, 16),
        "q": pick("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "h": pick("0123456789abcdef", 8),
        "m": f"{user}.{pick(string.ascii_lowercase, 5)}@mail.example.com",
        "k": f"{user}%40mail.example.com",
        "t": f"{user}+tag@example.co.uk",
        "i": f"{user}@müller.example",
        "c": card,
        "d": " ".join(card[at : at + 4] for at in range(0, 16, 4)),
        "e": "-".join(card[at : at + 4] for at in range(0, 16, 4)),
        "a": iban,
        "g": " ".join(iban[at : at + 4] for at in range(0, len(iban), 4)),
        "n": f"901820{chance.randint(10, 99)}",
        "s": f"219-09-99{chance.randint(10, 99)}",
    }


def _card(chance: random.Random) -> str:
    digits = [4] + [chance.randint(0, 9) for _ in range(14)]
    total = sum(
        sum(divmod(digit * 2, 10)) if index % 2 == 0 else digit
        for index, digit in enumerate(digits)
    )
    return "".join(map(str, digits)) + str(-total % 10)


def _iban(chance: random.Random) -> str:
    account = "".join(chance.choices(string.digits, k=18))
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check:02d}{account}"


def places(text: str) -> list[dict[str, object]]:
    """Return events with a text at each of the places at which producers send texts."""
    run_facets: list[dict[str, object]] = [
        {"errorMessage": {"message": text}},
        {"errorMessage": {"stackTrace": f"java.lang.Exception: {text}\n\tat a.B(C.java:1)"}},
        {"environmentVariables": {"environmentVariables": [{"name": "CONF", "value": text}]}},
        {"spark_properties": {"properties": {"spark.driver.extraJavaOptions": text}}},
        {"custom": {"deep": [[text], {"deeper": {"x": text}}]}},
        {"nested": {"json": json.dumps({"inner": json.dumps({"x": text})})}},
        {"processing": {"args": ["run", text]}},
    ]
    job_facets: list[dict[str, object]] = [
        {"sql": {"query": f"SELECT 1 /* {text} */"}},
        {"documentation": {"description": f"How to run: {text}"}},
        {"sourceCode": {"sourceCode": f"x = 1\n# {text}"}},
    ]
    events: list[dict[str, object]] = [
        {"run": {"runId": "r", "facets": facet}} for facet in run_facets
    ]
    events += [{"job": {"namespace": "n", "name": "j", "facets": facet}} for facet in job_facets]
    return events


def innocent(seed: int, count: int = 500) -> list[Planted]:
    """Return texts that must stay as they are."""
    chance = random.Random(seed)
    makers = list(_INNOCENT.items())
    return [
        Planted(kind, template.format(**_plain_values(chance)), "")
        for kind, template in (
            (kind, chance.choice(templates))
            for kind, templates in (makers[number % len(makers)] for number in range(count))
        )
    ]


def _plain_values(chance: random.Random) -> dict[str, str]:
    return {
        "uuid": str(uuid.UUID(int=chance.getrandbits(128))),
        "sha": f"{chance.getrandbits(256):064x}",
        "md5": f"{chance.getrandbits(128):032x}",
        "git": f"{chance.getrandbits(160):040x}",
        "word": chance.choice(_WORDS),
        "other": chance.choice(_WORDS),
        "host": chance.choice(_HOSTS),
        "number": str(chance.randint(10**9, 10**13)),
        "small": str(chance.randint(1, 999)),
        "month": f"{chance.randint(1, 12):02d}",
        "b64": base64.b64encode(chance.randbytes(24)).decode(),
    }


_INNOCENT: dict[str, tuple[str, ...]] = {
    "hash": ("sha256:{sha}", "{md5}", "commit {git}", "checksum={sha}", 'etag "{md5}"', "{b64}"),
    "uuid": ("{uuid}", "run {uuid} of {word}", "urn:uuid:{uuid}", "id={uuid};", "{{{uuid}}}"),
    "path": (
        "s3://bucket/{word}/dt=2024-{month}-01/part-00000-{uuid}-c000.snappy.parquet",
        "/user/hive/warehouse/{word}.db/{other}",
        "abfss://container@account.dfs.core.windows.net/{word}",
        "hdfs://{host}:8020/{word}/_temporary/0",
        "gs://bucket/{word}/tokenized/v{small}",
        "file:/opt/spark/jars/spark-core_2.12-3.5.{small}.jar",
        "/etc/ssl/certs/passkey/{word}.pem",
    ),
    "sql": (
        "SELECT token, password_hash FROM {word} WHERE id = {number}",
        "SELECT key, value FROM {word} JOIN {other} USING (key)",
        "SELECT secret IS NULL AS has_secret FROM {word}",
        "CREATE TABLE {word} (password STRING, api_key STRING, auth BOOLEAN)",
        "INSERT INTO {word} SELECT pass, pwd FROM {other}",
        "WHERE token = {other}.token AND password = {other}.password",
        "SELECT count(*) FROM {word} GROUP BY primary_key, auth_user",
        "ALTER TABLE {word} ADD PRIMARY KEY (order_key)",
        "SELECT sort_key, partition_key FROM {word} LIMIT {small}",
        "SELECT pass_count, pw.id FROM {word} pw",
        "GRANT SELECT ON {word} TO auth_reader",
    ),
    "version": (
        "3.5.{small}",
        "openlineage-spark_2.12-1.{small}.0",
        "Python 3.11.{small} (main, 2024-{month}-01)",
        "v{small}.0.0-rc.1+build.{number}",
        "linux/amd64 kernel 5.15.0-{small}-generic",
    ),
    "id": (
        "application_{number}_0001",
        "job_{number}_{small}",
        "attempt_{number}_0001_m_000000_0",
        "container_e{small}_{number}_01_000001",
        "scheduled__2024-{month}-01T00:00:00+00:00",
        "order {number} of customer {small}",
        "snapshot-id={number}",
        "offset {number}:{small}",
    ),
    "address": (
        "postgresql://{host}:5432/{word}",
        "jdbc:postgresql://{host}:5432/{word}?ssl=true",
        "kafka://{host}:9092/{word}",
        "http://{host}:8080/{word}?page={small}&key=value",
        "https://{host}/docs#authentication",
        "arn:aws:s3:::bucket/{word}",
        "arn:aws:iam::{small}456789012:role/{word}",
        "git@github.com:org/{word}.git",
        "https://{host}/x?sort=key&auth=basic",
    ),
    "message": (
        "Unexpected token: FROM at line {small}",
        "Key not found: {word}",
        "no password given for user etl",
        "password must not be empty",
        "The secret of good tests is patience",
        "Authorization failed for {word}: missing grant",
        "token expired after {small} s",
        "passed {small} of {number} checks",
        "Cannot broadcast the table larger than 8GB: {small} GB",
        "key=value pairs are separated by commas",
        "Missing keys: {word}, {other}",
        "the password policy is documented in the wiki",
        "auth: ok, pass: true, pw: none",
        "foreign key: {word}_id references {other}",
        "rows passed: {number}",
        "invalid password for user etl",
    ),
    "configuration": (
        "spark.sql.shuffle.partitions={small}",
        "spark.kryo.registrator={word}",
        "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer",
        "spark.hadoop.fs.s3a.path.style.access=true",
        "spark.authenticate=false",
        "sort.key={word}",
        "primary_key: {word}_id",
        "partition-key: order_date",
        "max_tokens: {small}",
        "spark.yarn.tags=auth,{word}",
        "tokenizer={word}",
        "password.required=true",
        "cookie.path=/",
        "auth.type=basic",
    ),
}
